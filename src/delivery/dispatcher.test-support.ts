import { toChat } from '../../test/support/telegram-account.ts';
import type { LiveAccount } from '../../test/support/live-account.ts';
import { until } from '../../test/support/until.ts';
import type { OutboundMessage } from '../core/message.ts';
import { silentLogger } from '../lib/logger.ts';
import type { Adapter } from '../platforms/contract.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import { Dispatcher } from './dispatcher.ts';
import type { DispatcherOptions } from './dispatcher.ts';

export const hour = 3_600_000;

export interface Sending extends AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

/** A dispatcher at work for the account; `names` and `adapter` say which accounts it has, if not the one. */
export const startDispatcher = (live: LiveAccount, changes: Partial<DispatcherOptions> & { readonly names?: readonly string[]; readonly adapter?: (account: string) => Adapter | undefined } = {}): Sending => {
  const { names, adapter, ...options } = changes;
  const connections = { ...live.connections, ...(names !== undefined && { names: () => names }), ...(adapter !== undefined && { adapter }) };
  const dispatcher = new Dispatcher({ store: live.store, owner: 'a', clock: live.clock, log: silentLogger, connections, gate: live.gate, maxAgeMs: 24 * hour, sendTimeoutMs: 30_000, redact: (text) => text, ...options });
  dispatcher.start();
  return {
    dispatcher,
    async [Symbol.asyncDispose]() {
      await dispatcher.stop(100);
    },
  };
};

/** The real adapter, which takes what `judge` lets through. */
export const judging = (live: LiveAccount, judge: (message: OutboundMessage, signal: AbortSignal) => Promise<void> | void): Adapter => {
  const real = live.connections.adapter('telegram');
  if (real === undefined) throw new Error('the account has no adapter');
  return {
    ...real,
    async send(message, signal) {
      await judge(message, signal);
      return real.send(message, signal);
    },
  };
};

export const enqueueTo = (live: Pick<LiveAccount, 'store'>, chatId: string, text: string, more: Partial<OutboundMessage> = {}): Promise<void> => live.store.write((tx) => enqueueDelivery(tx, { message: { key: `key:${text}`, target: toChat(chatId), text, ...more } }, {}));

export const shownIn = (live: LiveAccount, chatId: string): readonly string[] => live.simulator.visible(chatId).map((message) => message.text);

export const outboxOf = (live: LiveAccount) => live.store.read((db) => db.q.selectFrom('outbox').select(['key', 'state', 'attempts', 'repeated', 'message_ids', 'error']).orderBy('id').execute());

/** Grows with every claim of the only chat. */
export const fenceOf = async (live: LiveAccount): Promise<number> => (await live.store.read((db) => db.q.selectFrom('lanes').select('fence').executeTakeFirstOrThrow())).fence;

/** Lets time pass until something holds. What happens meanwhile takes its own time, so nobody can say how much has passed. */
export const passUntil = (live: LiveAccount, stepMs: number, condition: () => boolean | Promise<boolean>, what: string): Promise<void> =>
  until(async () => {
    await live.clock.advance(stepMs);
    return condition();
  }, what);
