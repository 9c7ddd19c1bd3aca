import { sql } from 'kysely';
import type { InboundEvent, Target } from '../../core/message.ts';
import type { Attachment } from '../../core/transcript.ts';
import { listJobs } from '../cron/cron-jobs.ts';
import { inPages } from './in-pages.ts';
import type { Reading } from '../store.ts';
import { mediaOf } from './person-media.ts';
import type { PersonMedia } from './person-media.ts';

/** Somebody by the id that their platform gave them. */
export interface Person {
  readonly account: string;
  readonly userId: string;
}

/** What they said in a conversation of several people. */
export interface SharedRow {
  readonly id: number;
  readonly sessionId: string;
  readonly turnId: number | null;
  readonly content: string;
  readonly createdAtMs: number;
  readonly attachments: readonly Attachment[];
}

/** Everything in a store that is kept under somebody's id. */
export interface PersonData {
  /** Conversations of theirs alone. */
  readonly sessionIds: readonly string[];
  /** Direct chats of theirs. */
  readonly chatIds: readonly string[];
  readonly inboxIds: readonly number[];
  readonly shared: readonly SharedRow[];
  readonly jobIds: readonly string[];
  readonly processIds: readonly string[];
  readonly media: PersonMedia;
  /** What they were called in what is still traceable. */
  readonly names: readonly string[];
}

const senderIn = (db: Reading) => (db.engine === 'sqlite' ? sql<string>`json_extract(event, '$.sender.id')` : sql<string>`(event::jsonb) #>> '{sender,id}'`);

/** What arrived from them and is still kept. */
const arrivals = async (db: Reading, { account, userId }: Person) => {
  const rows = await db.q.selectFrom('inbox').select(['id', 'chat_id', 'message_id', 'session_id', 'event']).where('account', '=', account).where(senderIn(db), '=', userId).execute();
  return rows.map((row) => {
    const { chat, sender } = JSON.parse(row.event) as InboundEvent;
    return { ...row, isDirect: chat.type === 'dm', name: sender.name };
  });
};

/** Theirs, and what grew out of those without an owner of its own: helpers, branches. */
const ownSessions = async (db: Reading, { account, userId }: Person, further: readonly string[]): Promise<readonly string[]> => {
  const own = await db.q.selectFrom('sessions').select('id').where('account', '=', account).where('user_id', '=', userId).execute();
  const found = new Set([...own.map(({ id }) => id), ...further]);
  for (let fresh = [...found]; fresh.length > 0; ) {
    const children = await inPages(fresh, (ids) => db.q.selectFrom('sessions').select('id').where('parent_id', 'in', [...ids]).where((eb) => eb.or([eb('user_id', 'is', null), eb.and([eb('user_id', '=', userId), eb('account', '=', account)])])).execute());
    fresh = children.map(({ id }) => id).filter((id) => !found.has(id));
    for (const id of fresh) found.add(id);
  }
  return [...found];
};

const likeText = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

const sharedRows = async (db: Reading, person: Person, known: { readonly messageIds: readonly number[]; readonly ownSessions: ReadonlySet<string> }): Promise<readonly SharedRow[]> => {
  const columns = ['id', 'session_id', 'turn_id', 'content', 'body', 'created_at'] as const;
  const speaker = `"speaker":${JSON.stringify(`${person.account}:${person.userId}`)}`;
  const named = await db.q.selectFrom('messages').select(columns).where('role', '=', 'user').where(sql<boolean>`body like ${likeText(speaker)} escape '\\'`).execute();
  const linked = await inPages(known.messageIds, (ids) => db.q.selectFrom('messages').select(columns).where('id', 'in', [...ids]).where('role', '=', 'user').execute());
  const rows = new Map([...named, ...linked].map((row) => [row.id, row]));
  return [...rows.values()]
    .filter((row) => !known.ownSessions.has(row.session_id))
    .toSorted((a, b) => a.id - b.id)
    .map((row) => ({ id: row.id, sessionId: row.session_id, turnId: row.turn_id, content: row.content, createdAtMs: row.created_at, attachments: row.body === null ? [] : ((JSON.parse(row.body) as { attachments?: readonly Attachment[] }).attachments ?? []) }));
};

const directChats = async (db: Reading, person: Person, sessionIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await inPages(sessionIds, (ids) => db.q.selectFrom('bindings').select('target').where('session_id', 'in', [...ids]).where('account', '=', person.account).execute());
  return rows.map((row) => JSON.parse(row.target) as Target).filter(({ chatType }) => chatType === 'dm').map(({ chatId }) => chatId);
};

/** Looks somebody up everywhere. */
export const findPerson = async (db: Reading, person: Person): Promise<PersonData> => {
  const jobs = await listJobs(db, { completed: true, removed: true, madeBy: person });
  const jobIds = jobs.map(({ id }) => id);
  const runs = await inPages(jobIds, (ids) => db.q.selectFrom('cron_runs').select('session_id').where('job_id', 'in', [...ids]).where('session_id', 'is not', null).execute());
  const sessionIds = await ownSessions(db, person, runs.flatMap(({ session_id }) => session_id ?? []));
  const arrived = await arrivals(db, person);
  const own = new Set(sessionIds);
  const linked = arrived.filter(({ message_id, session_id }) => message_id !== null && !own.has(session_id ?? ''));
  const chats = new Set([...arrived.filter(({ isDirect }) => isDirect).map(({ chat_id }) => chat_id), ...(await directChats(db, person, sessionIds))]);
  const processes = await inPages(sessionIds, (ids) => db.q.selectFrom('processes').select('id').where('session_id', 'in', [...ids]).execute());
  const inboxIds = arrived.map(({ id }) => id);
  const chatIds = [...chats];
  return {
    sessionIds,
    chatIds,
    inboxIds,
    shared: await sharedRows(db, person, { messageIds: linked.flatMap(({ message_id }) => message_id ?? []), ownSessions: own }),
    jobIds,
    processIds: processes.map(({ id }) => id),
    names: [...new Set(arrived.flatMap(({ name }) => name ?? []))],
    media: await mediaOf(db, { account: person.account, sessionIds, inboxIds, chatIds }),
  };
};
