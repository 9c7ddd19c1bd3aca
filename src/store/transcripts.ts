import { StoreError } from '../core/errors.ts';
import type { TranscriptMessage } from '../core/transcript.ts';
import { prepared } from './prepared.ts';
import { indexMessage, unindexMessages } from './search.ts';
import { steadyLimit } from './store.ts';
import type { Reading, Writing } from './store.ts';

export interface StoredMessage {
  readonly id: number;
  readonly turnId: number | null;
  readonly message: TranscriptMessage;
  readonly sizeBytes: number;
  readonly active: boolean;
  readonly createdAtMs: number;
}

const sizeOf = (message: TranscriptMessage): number =>
  Buffer.byteLength(message.content) + (message.toolCalls ?? []).reduce((sum, call) => sum + Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments), 0);

export const appendMessage = async (tx: Writing, to: { sessionId: string; turnId: number | null }, message: TranscriptMessage): Promise<number> => {
  const { role, content, ...rest } = message;
  const body = Object.keys(rest).length === 0 ? null : JSON.stringify(rest);
  const [row] = (await insertMessage(tx, { ...to, role, content, body, size: sizeOf(message) })).rows;
  if (row === undefined) throw new StoreError('failed', 'a new message got no number');
  if (role !== 'tool') await indexMessage(tx, row.id, content);
  await countMessage(tx, { sessionId: to.sessionId });
  return row.id;
};

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
  created_at: number;
}

const columns = ['id', 'turn_id', 'role', 'content', 'body', 'size', 'active', 'created_at'] as const;

const toStored = (row: Row): StoredMessage => ({
  id: row.id,
  turnId: row.turn_id,
  message: toMessage(row),
  sizeBytes: row.size,
  active: row.active === 1,
  createdAtMs: row.created_at,
});

/** A message that the model may see. */
export type ActiveMessage = Pick<StoredMessage, 'id' | 'message' | 'sizeBytes' | 'createdAtMs'>;

const toMessage = (row: Pick<Row, 'role' | 'content' | 'body'>): TranscriptMessage => {
  const message = { role: row.role as TranscriptMessage['role'], content: row.content };
  return row.body === null ? message : { ...message, ...(JSON.parse(row.body) as Partial<TranscriptMessage>) };
};

/** What the model may see, newest first, from just before `beforeId`. Costs the same however long the conversation is. */
export const newestMessages = async (db: Reading, sessionId: string, page: { beforeId?: number; limit: number }): Promise<ActiveMessage[]> => {
  const { limit, beforeId } = page;
  const { rows } = await (beforeId === undefined ? selectNewest(db, { sessionId, limit }) : selectNewestBefore(db, { sessionId, limit, beforeId }));
  return rows.map((row) => ({ id: row.id, message: toMessage(row), sizeBytes: row.size, createdAtMs: row.created_at }));
};

const newest = (db: Reading, of: { sessionId: string; limit: number }) =>
  db.q.selectFrom('messages').select(['id', 'role', 'content', 'body', 'size', 'created_at']).where('session_id', '=', of.sessionId).where('active', '=', 1).orderBy('id', 'desc').limit(steadyLimit(of.limit));

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

/** The newest active user message, below `beforeId` if given: where an exchange starts. */
export const lastUserMessage = async (db: Reading, sessionId: string, beforeId?: number): Promise<StoredMessage | undefined> => {
  let query = db.q.selectFrom('messages').select(columns).where('session_id', '=', sessionId).where('active', '=', 1).where('role', '=', 'user');
  if (beforeId !== undefined) query = query.where('id', '<', beforeId);
  const row = await query.orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row === undefined ? undefined : toStored(row);
};

/** Takes everything from `fromId` on out of the model's sight. The rows stay, for exports. */
export const deactivateFrom = async (tx: Writing, sessionId: string, fromId: number): Promise<number> => {
  const rows = await tx.q.updateTable('messages').set({ active: 0 }).where('session_id', '=', sessionId).where('active', '=', 1).where('id', '>=', fromId).returning('id').execute();
  await unindexMessages(tx, rows.map((row) => row.id));
  return rows.length;
};

/** Copies what the model sees into another session, in order. */
export const copyMessages = async (tx: Writing, from: string, to: string): Promise<number> => {
  let copied = 0;
  let afterId = 0;
  for (;;) {
    const page = await pageOfMessages(tx, from, { afterId, limit: 500, activeOnly: true });
    for (const stored of page) await appendMessage(tx, { sessionId: to, turnId: null }, stored.message);
    copied += page.length;
    if (page.length < 500) return copied;
    afterId = page.at(-1)?.id ?? afterId;
  }
};
