import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { messageSizeBytes } from '../../core/transcript.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { prepared } from '../prepared.ts';
import { steadyLimit } from '../store.ts';
import type { Reading, Writing } from '../store.ts';
import { currentCompression, dropCurrentCompression, insertCompression } from './compressions.ts';
import { indexMessage, unindexMessages } from './search.ts';

export interface StoredMessage {
  readonly id: number;
  readonly turnId: number | null;
  readonly message: TranscriptMessage;
  readonly sizeBytes: number;
  readonly active: boolean;
  /** A summary speaks for it to the model; people still find it. */
  readonly archived: boolean;
  /** Of a tool's result, as many characters as the model still sees; null for all of them. */
  readonly shownChars: number | null;
  readonly createdAtMs: number;
}

export const appendMessage = async (tx: Writing, to: { sessionId: string; turnId: number | null }, message: TranscriptMessage): Promise<number> => {
  const { role, content, ...rest } = message;
  const body = Object.keys(rest).length === 0 ? null : JSON.stringify(rest);
  const [row] = (await insertMessage(tx, { ...to, role, content, body, size: messageSizeBytes(message) })).rows;
  if (row === undefined) throw new StoreError('failed', 'a new message got no number');
  if (role !== 'tool') await indexMessage(tx, row.id, content);
  await countMessage(tx, { sessionId: to.sessionId });
  return row.id;
};

/** Whether a row is there, and was written by that turn. */
export const isRowOfTurn = async (db: Reading, id: number, turnId: number): Promise<boolean> =>
  (await db.q.selectFrom('messages').select('id').where('id', '=', id).where('turn_id', '=', turnId).executeTakeFirst()) !== undefined;

const insertMessage = prepared((db, row: { sessionId: string; turnId: number | null; role: string; content: string; body: string | null; size: number }) =>
  db.q
    .insertInto('messages')
    .values({ session_id: row.sessionId, turn_id: row.turnId, role: row.role, content: row.content, body: row.body, size: row.size, created_at: db.now })
    .returning('id'),
);

const countMessage = prepared((db, of: { sessionId: string }) =>
  db.q.updateTable('sessions').set((eb) => ({ message_count: eb('message_count', '+', 1), active_at: db.now })).where('id', '=', of.sessionId),
);

interface Row {
  id: number;
  turn_id: number | null;
  role: string;
  content: string;
  body: string | null;
  size: number;
  active: number;
  compression_id: number | null;
  shown_chars: number | null;
  created_at: number;
}

const columns = ['id', 'turn_id', 'role', 'content', 'body', 'size', 'active', 'compression_id', 'shown_chars', 'created_at'] as const;

const toStored = (row: Row): StoredMessage => ({
  id: row.id,
  turnId: row.turn_id,
  message: toMessage(row),
  sizeBytes: row.size,
  active: row.active === 1,
  archived: row.compression_id !== null,
  shownChars: row.shown_chars,
  createdAtMs: row.created_at,
});

/** A message that the model may see. */
export type ActiveMessage = Pick<StoredMessage, 'id' | 'message' | 'sizeBytes' | 'shownChars' | 'createdAtMs'>;

const toMessage = ({ role, content, body }: Pick<Row, 'role' | 'content' | 'body'>): TranscriptMessage => {
  const rest = body === null ? undefined : (JSON.parse(body) as Partial<TranscriptMessage>);
  return { role: role as TranscriptMessage['role'], content, ...rest };
};

/** What the model may see, newest first, from just before `beforeId`. Costs the same however long the conversation is. */
export const newestMessages = async (db: Reading, sessionId: string, page: { beforeId?: number; limit: number }): Promise<ActiveMessage[]> => {
  const { limit, beforeId } = page;
  const { rows } = await (beforeId === undefined ? selectNewest(db, { sessionId, limit }) : selectNewestBefore(db, { sessionId, limit, beforeId }));
  return rows.map((row) => ({ id: row.id, message: toMessage(row), sizeBytes: row.size, shownChars: row.shown_chars, createdAtMs: row.created_at }));
};

const newest = (db: Reading, of: { sessionId: string; limit: number }) =>
  db.q.selectFrom('messages').select(['id', 'role', 'content', 'body', 'size', 'shown_chars', 'created_at']).where('session_id', '=', of.sessionId).where('active', '=', 1).orderBy('id', 'desc').limit(steadyLimit(of.limit));

const selectNewest = prepared(newest);
const selectNewestBefore = prepared((db, of: { sessionId: string; limit: number; beforeId: number }) => newest(db, of).where('id', '<', of.beforeId));

/** Everything ever said, undone rows included unless `activeOnly`, oldest first, for exports. */
export const pageOfMessages = async (db: Reading, sessionId: string, page: { afterId: number; limit: number; activeOnly: boolean }): Promise<StoredMessage[]> => {
  // One ordered stretch of the index for each value: asking for both at once would sort the whole conversation for every page.
  const rowsOf = (active: 0 | 1): Promise<Row[]> =>
    db.q.selectFrom('messages').select(columns).where('session_id', '=', sessionId).where('active', '=', active).where('id', '>', page.afterId).orderBy('id').limit(page.limit).execute();
  const shown = await rowsOf(1);
  const rows = page.activeOnly ? shown : [...shown, ...(await rowsOf(0))].toSorted((a, b) => a.id - b.id).slice(0, page.limit);
  return rows.map(toStored);
};

/** The newest of what was said and not taken back, archived or not, newest first. */
export const newestSaid = async (db: Reading, sessionId: string, limit: number): Promise<StoredMessage[]> => {
  const rowsOf = (active: 0 | 1): Promise<Row[]> => {
    const rows = db.q.selectFrom('messages').select(columns).where('session_id', '=', sessionId).where('active', '=', active);
    return (active === 1 ? rows : rows.where('compression_id', 'is not', null)).orderBy('id', 'desc').limit(limit).execute();
  };
  const rows = [...(await rowsOf(1)), ...(await rowsOf(0))];
  return rows.toSorted((a, b) => b.id - a.id).slice(0, limit).map(toStored);
};

/** What is known of a message without reading it. */
export interface MessageSketch {
  readonly id: number;
  readonly role: TranscriptMessage['role'];
  readonly sizeBytes: number;
}

const sketchColumns = ['id', 'role', 'size'] as const;
const toSketch = (row: Pick<Row, 'id' | 'role' | 'size'>): MessageSketch => ({ id: row.id, role: row.role as MessageSketch['role'], sizeBytes: row.size });

/** What the model sees, newest first, from just before `beforeId`. */
export const newestSketches = async (db: Reading, sessionId: string, page: { beforeId?: number; limit: number }): Promise<MessageSketch[]> => {
  let query = db.q.selectFrom('messages').select(sketchColumns).where('session_id', '=', sessionId).where('active', '=', 1);
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId);
  return (await query.orderBy('id', 'desc').limit(page.limit).execute()).map(toSketch);
};

/** The first messages that the model sees, oldest first. */
export const oldestSketches = async (db: Reading, sessionId: string, limit: number): Promise<MessageSketch[]> => {
  const rows = await db.q.selectFrom('messages').select(sketchColumns).where('session_id', '=', sessionId).where('active', '=', 1).orderBy('id').limit(limit).execute();
  return rows.map(toSketch);
};

/** The newest result of a tool that the model sees. */
export const newestResultOf = async (db: Reading, sessionId: string, toolName: string): Promise<MessageSketch | undefined> => {
  const rows = db.q.selectFrom('messages').select(sketchColumns).where('session_id', '=', sessionId).where('active', '=', 1).where('role', '=', 'tool');
  const row = await rows.where('body', 'like', `%"toolName":${JSON.stringify(toolName)}%`).orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : toSketch(row);
};

/** The newest active user message, below `beforeId` if given: where an exchange starts. The beginning that stands before a summary is not among them. */
export const lastUserMessage = async (db: Reading, sessionId: string, beforeId?: number): Promise<StoredMessage | undefined> => {
  const headThrough = db.q.selectFrom('compressions').select('head_through').where('session_id', '=', sessionId).where('state', '=', 'current');
  let query = db.q.selectFrom('messages').select(columns).where('session_id', '=', sessionId).where('active', '=', 1).where('role', '=', 'user').where('id', '>', sql<number>`coalesce(${headThrough}, 0)`);
  if (beforeId !== undefined) query = query.where('id', '<', beforeId);
  const row = await query.orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : toStored(row);
};

/** Takes everything from `fromId` on out of the model's sight. The rows stay, for exports. A summary that speaks of any of it gives way to what it stood for. */
export const deactivateFrom = async (tx: Writing, sessionId: string, fromId: number): Promise<number> => {
  for (let current = await currentCompression(tx, sessionId); current !== undefined && current.throughId >= fromId; current = await currentCompression(tx, sessionId)) {
    const archived = tx.q.updateTable('messages').where('session_id', '=', sessionId).where('active', '=', 0).where('compression_id', '=', current.id);
    await archived.set({ active: 1, compression_id: null }).execute();
    await dropCurrentCompression(tx, sessionId);
  }
  await tx.q.updateTable('sessions').set({ prompt_tokens: null, prompt_through: null }).where('id', '=', sessionId).where('prompt_through', '>=', fromId).execute();
  const rows = await tx.q.updateTable('messages').set({ active: 0 }).where('session_id', '=', sessionId).where('active', '=', 1).where('id', '>=', fromId).returning('id').execute();
  await unindexMessages(tx, rows.map((row) => row.id));
  return rows.length;
};

/** Copies what the model sees, up to a message, into another session, in order. */
export const copyMessages = async (tx: Writing, from: string, to: string, throughId = Infinity): Promise<number> => {
  const current = await currentCompression(tx, from);
  const copy = { headThroughId: 0, throughId: 0 };
  let copied = 0;
  let afterId = 0;
  for (;;) {
    const found = await pageOfMessages(tx, from, { afterId, limit: 500, activeOnly: true });
    const page = found.filter(({ id }) => id <= throughId);
    for (const { id, message, shownChars, sizeBytes } of page) {
      const newId = await appendMessage(tx, { sessionId: to, turnId: null }, message);
      if (shownChars !== null) await tx.q.updateTable('messages').set({ shown_chars: shownChars, size: sizeBytes }).where('id', '=', newId).execute();
      if (id <= (current?.headThroughId ?? 0)) copy.headThroughId = newId;
      if (id <= (current?.throughId ?? 0)) copy.throughId = newId;
    }
    copied += page.length;
    if (page.length < 500) break;
    afterId = page.at(-1)?.id ?? afterId;
  }
  if (current !== undefined) await insertCompression(tx, to, { ...current, ...copy });
  return copied;
};
