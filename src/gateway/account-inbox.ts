import type { Identity, Inbox } from '../platforms/contract.ts';
import { readCursor, writeCursor } from '../store/accounts/accounts.ts';
import type { AccountStatus } from '../store/accounts/accounts.ts';
import { markReturned } from '../store/messages/returned-delivery.ts';
import type { SupervisorOptions } from './supervise.ts';

/** That something was heard, and when. */
export type Evidence = Pick<AccountStatus, 'lastEventAtMs'> | Pick<AccountStatus, 'lastAliveAtMs'>;

/** The way into the gateway for one connection of an account. Cursors belong to who it is there. */
export const accountInbox = (options: Pick<SupervisorOptions, 'store' | 'account' | 'clock' | 'accept' | 'moved' | 'redact'>, identity: Identity, heard: (evidence: Evidence) => void): Inbox => {
  const { store, account, clock } = options;
  const at = (name: string) => ({ account, identity: identity.id, name });
  return {
    accept: async (event) => {
      const accepted = await options.accept(event);
      heard({ lastEventAtMs: clock.now() });
      return accepted;
    },
    returned: (messageId, reason) => markReturned(store, { account, messageId, reason: options.redact(reason) }),
    moved: options.moved,
    alive: () => heard({ lastAliveAtMs: clock.now() }),
    cursor: {
      read: (name) => store.read((db) => readCursor(db, at(name))),
      write: (name, value) => store.write((tx) => writeCursor(tx, at(name), value)),
    },
  };
};
