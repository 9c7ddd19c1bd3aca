import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../core/errors.ts';
import { bindSession, bindingsOf, listSessions, reopenSession, resolveSessions } from '../../store/sessions.ts';
import type { Session } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import { keyOf } from './situation.ts';
import type { Window } from './situation.ts';

export interface WindowWish {
  /** The last conversation of the terminal. */
  readonly continue?: boolean | undefined;
  /** An id, the start of one, or a title. */
  readonly resume?: string | undefined;
}

export interface OpenedWindow {
  readonly window: Window;
  /** The conversation that is taken up again. */
  readonly session?: Session;
}

const lately = 20;

const newWindow = (account: string): Window => ({ account, chat: randomBytes(5).toString('hex') });

const find = async (store: Store, account: string, wish: WindowWish): Promise<Session | undefined> => {
  const { resume } = wish;
  if (resume === undefined) {
    if (wish.continue !== true) return undefined;
    return (await store.read((db) => listSessions(db, { account, limit: lately }))).find((session) => session.messageCount > 0);
  }
  const found = await store.read((db) => resolveSessions(db, resume));
  const [session, ...others] = found.filter((each) => each.account === account);
  if (session === undefined && found[0] !== undefined) throw new ConfigError(`${found[0].id} belongs to ${found[0].account}, not to the terminal. hermes sessions show ${found[0].id} prints it.`);
  if (session === undefined) throw new ConfigError(`There is no conversation called ${resume}. hermes sessions list --account ${account} shows those of the terminal.`);
  if (others.length > 0) throw new ConfigError(`Several conversations start with ${resume}: ${[session, ...others].map(({ id }) => id).join(', ')}`);
  return session;
};

/** The window in which a conversation already is, or a new one that continues it. */
const windowOf = async (store: Store, account: string, session: Session): Promise<Window> => {
  const bound = (await store.read((db) => bindingsOf(db, session.id))).find(({ target }) => target.account === account);
  if (bound !== undefined) return { account, chat: bound.target.chatId };
  const window = newWindow(account);
  await store.write(async (tx) => {
    await reopenSession(tx, session.id);
    await bindSession(tx, { sessionKey: keyOf(window), sessionId: session.id, target: { account, chatId: window.chat, chatType: 'dm' } });
  });
  return window;
};

/** A new window, or the one that was asked for. */
export const openWindow = async (store: Store, account: string, wish: WindowWish): Promise<OpenedWindow> => {
  const session = await find(store, account, wish);
  return session === undefined ? { window: newWindow(account) } : { window: await windowOf(store, account, session), session };
};
