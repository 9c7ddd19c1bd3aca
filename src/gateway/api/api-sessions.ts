import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanTitle } from '../../sessions/titles/clean-title.ts';
import { newSessionId } from '../../core/ids.ts';
import type { Clock } from '../../lib/clock.ts';
import { sessionMedia } from '../../sessions/attachments.ts';
import { deleteApiSession } from '../../store/sessions/delete-sessions.ts';
import { countWaiting } from '../../store/messages/inbox.ts';
import { lockLane, turnLane } from '../../store/lanes/lanes.ts';
import { changeSettings, createSession, endSession, findSession, listSessions, setTitle } from '../../store/sessions/sessions.ts';
import type { Session } from '../../store/sessions/sessions.ts';
import type { Reading, Store, Writing } from '../../store/store.ts';
import { copyMessages, pageOfMessages } from '../../store/sessions/transcripts.ts';
import type { StoredMessage } from '../../store/sessions/transcripts.ts';
import { apiAccount } from './place.ts';

/** Why something cannot be done with a conversation. */
export type SessionRefusal = 'not_found' | 'exists' | 'title_taken' | 'busy';

export type SessionResult<T> = { readonly type: 'done'; readonly value: T } | { readonly type: 'refused'; readonly why: SessionRefusal };

export interface NewApiSession {
  /** One of our own when left out. */
  readonly id?: string | undefined;
  readonly agent: string;
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
}

/** The conversations of a key. Those of other keys and of chats do not exist for it. */
export interface ApiSessions {
  list(keyId: string, page: { readonly limit: number; readonly offset: number }): Promise<{ readonly sessions: readonly Session[]; readonly more: boolean }>;
  create(keyId: string, session: NewApiSession): Promise<SessionResult<Session>>;
  find(keyId: string, id: string): Promise<Session | undefined>;
  change(keyId: string, id: string, change: { readonly title?: string | undefined; readonly close?: boolean }): Promise<SessionResult<Session>>;
  remove(keyId: string, id: string): Promise<SessionResult<undefined>>;
  /** A copy with all that was said goes on; the original ends. */
  fork(keyId: string, id: string, as: { readonly id?: string | undefined; readonly title?: string | undefined }): Promise<SessionResult<Session>>;
  messages(keyId: string, id: string, page: { readonly afterId: number; readonly limit: number }): Promise<readonly StoredMessage[] | undefined>;
}

export interface ApiSessionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mediaFolder: string;
}

class Refused extends Error {
  readonly why: SessionRefusal;

  constructor(why: SessionRefusal) {
    super('refused');
    this.why = why;
  }
}

const own = async (db: Reading, keyId: string, id: string): Promise<Session> => {
  const session = await findSession(db, id);
  if (session === undefined || session.account !== apiAccount || session.userId !== keyId) throw new Refused('not_found');
  return session;
};

/** One of their own in which nothing is under way, nor begins until the end of the transaction. */
const ownIdle = async (tx: Writing, keyId: string, id: string): Promise<Session> => {
  const lane = turnLane((await own(tx, keyId, id)).id);
  const { running } = await lockLane(tx, { lane, kind: 'turn' });
  if (running || (await countWaiting(tx, lane)) > 0) throw new Refused('busy');
  // It may have been removed before the lock was ours.
  return own(tx, keyId, id);
};

const nameIt = async (tx: Writing, id: string, title: string | undefined): Promise<void> => {
  const name = cleanTitle(title ?? '');
  if (name !== '' && !(await setTitle(tx, id, name))) throw new Refused('title_taken');
};

const again = async (tx: Writing, id: string): Promise<Session> => {
  const session = await findSession(tx, id);
  if (session === undefined) throw new Error(`the session ${id} is not there`);
  return session;
};

const open = async (tx: Writing, keyId: string, session: NewApiSession & { readonly id: string; readonly parentId?: string }): Promise<void> => {
  const { id, agent, parentId, instructions } = session;
  if ((await findSession(tx, id)) !== undefined) throw new Refused('exists');
  await createSession(tx, { id, agent, account: apiAccount, chatType: 'dm', userId: keyId, ...(parentId !== undefined && { parentId }) });
  // Each call has its own answer; a newer one does not take the place of an older one.
  await changeSettings(tx, id, { busyMode: 'queue', ...(instructions !== undefined && instructions.trim() !== '' && { instructions }) });
};

const longestTitle = 90;

/** `Plans`, `Plans (2)`, `Plans (3)`. */
const nextTitle = (title: string): string => {
  const [, name = title, count] = /^(.*) \((\d{1,3})\)$/su.exec(title) ?? [];
  return `${name.slice(0, longestTitle)} (${count === undefined ? 2 : Number(count) + 1})`;
};

/** The title of the parent with the next number that is free. */
const inheritTitle = async (tx: Writing, id: string, parent: Session): Promise<void> => {
  let title = parent.title;
  for (let tries = 0; title !== null && tries < 20; tries += 1) {
    title = nextTitle(title);
    if (await setTitle(tx, id, title)) return;
  }
};

const createIn = async (tx: Writing, keyId: string, session: NewApiSession & { readonly id: string }): Promise<Session> => {
  await open(tx, keyId, session);
  await nameIt(tx, session.id, session.title);
  return again(tx, session.id);
};

const forkIn = async (tx: Writing, keyId: string, fork: { readonly of: string; readonly id: string; readonly title: string | undefined }): Promise<Session> => {
  const parent = await ownIdle(tx, keyId, fork.of);
  await open(tx, keyId, { id: fork.id, agent: parent.agent, parentId: parent.id, instructions: parent.settings.instructions });
  await copyMessages(tx, parent.id, fork.id);
  if (fork.title === undefined) await inheritTitle(tx, fork.id, parent);
  else await nameIt(tx, fork.id, fork.title);
  await endSession(tx, parent.id, 'branched');
  return again(tx, fork.id);
};

export const newApiSessions = ({ store, clock, mediaFolder }: ApiSessionsDeps): ApiSessions => {
  const idOf = (wanted: string | undefined): string => wanted ?? newSessionId(new Date(clock.now()));
  const attempt = async <T>(work: () => Promise<T>): Promise<SessionResult<T>> => {
    try {
      return { type: 'done', value: await work() };
    } catch (error) {
      if (error instanceof Refused) return { type: 'refused', why: error.why };
      throw error;
    }
  };
  const find = async (keyId: string, id: string): Promise<Session | undefined> => {
    const found = await attempt(() => store.read((db) => own(db, keyId, id)));
    return found.type === 'done' ? found.value : undefined;
  };
  return {
    find,
    async list(keyId, { limit, offset }) {
      const sessions = await store.read((db) => listSessions(db, { account: apiAccount, userId: keyId, limit: limit + 1, offset }));
      return { sessions: sessions.slice(0, limit), more: sessions.length > limit };
    },
    create: (keyId, session) => attempt(() => store.write((tx) => createIn(tx, keyId, { ...session, id: idOf(session.id) }))),
    change: (keyId, id, { title, close }) =>
      attempt(() =>
        store.write(async (tx) => {
          await own(tx, keyId, id);
          await nameIt(tx, id, title);
          if (close === true) await endSession(tx, id, 'closed');
          return again(tx, id);
        }),
      ),
    remove: (keyId, id) =>
      attempt(async () => {
        await store.write(async (tx) => {
          await ownIdle(tx, keyId, id);
          await deleteApiSession(tx, id);
        });
        await rm(join(mediaFolder, sessionMedia(id)), { recursive: true, force: true });
        return undefined;
      }),
    fork: (keyId, id, as) => attempt(() => store.write((tx) => forkIn(tx, keyId, { of: id, id: idOf(as.id), title: as.title }))),
    async messages(keyId, id, page) {
      if ((await find(keyId, id)) === undefined) return undefined;
      return store.read((db) => pageOfMessages(db, id, { ...page, activeOnly: true }));
    },
  };
};
