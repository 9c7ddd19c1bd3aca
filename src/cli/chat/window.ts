import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../core/errors.ts';
import { bindSession, bindingsOf, listSessions, reopenSession, resolveSessions } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Routing } from '../../routing/options.ts';
import { keyOf, windowAt } from './situation.ts';
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

export interface WindowPlace {
  readonly account: string;
  readonly routing: Routing;
}

const lately = 20;

const newChat = (): string => randomBytes(5).toString('hex');

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
const windowOf = async (store: Store, at: WindowPlace, session: Session): Promise<Window> => {
  const { account } = at;
  const bound = (await store.read((db) => bindingsOf(db, session.id))).find(({ target }) => target.account === account);
  const window = windowAt(at.routing, account, bound?.target.chatId ?? newChat());
  // A route that was changed since would lead what is said there to somebody else.
  if (bound?.sessionKey === keyOf(window)) return window;
  await store.write(async (tx) => {
    await reopenSession(tx, session.id);
    await bindSession(tx, { sessionKey: keyOf(window), sessionId: session.id, target: { account, chatId: window.chat, chatType: 'dm' } });
  });
  return window;
};

/** A new window, or the one that was asked for. */
export const openWindow = async (store: Store, at: WindowPlace, wish: WindowWish): Promise<OpenedWindow> => {
  const session = await find(store, at.account, wish);
  return session === undefined ? { window: windowAt(at.routing, at.account, newChat()) } : { window: await windowOf(store, at, session), session };
};
