import type { TranscriptMessage } from '../core/transcript.ts';
import { indexMessage, unindexMessages } from './search.ts';
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
  const row = await tx.q
    .insertInto('messages')
    .values({
      session_id: to.sessionId,
      turn_id: to.turnId,
      role,
      content,
      body: Object.keys(rest).length === 0 ? null : JSON.stringify(rest),
      size: sizeOf(message),
      created_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (role !== 'tool') await indexMessage(tx, row.id, content);
  await tx.q.updateTable('sessions').set((eb) => ({ message_count: eb('message_count', '+', 1), active_at: tx.now })).where('id', '=', to.sessionId).execute();
  return row.id;
};

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
  message: { role: row.role as TranscriptMessage['role'], content: row.content, ...(row.body === null ? {} : (JSON.parse(row.body) as object)) },
  sizeBytes: row.size,
  active: row.active === 1,
  createdAtMs: row.created_at,
});

/** What the model may see, newest first, from just before `beforeId`. Costs the same however long the conversation is. */
export const newestMessages = async (db: Reading, sessionId: string, page: { beforeId?: number; limit: number }): Promise<StoredMessage[]> => {
  let query = db.q.selectFrom('messages').select(columns).where('session_id', '=', sessionId).where('active', '=', 1);
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId);
  const rows = await query.orderBy('id', 'desc').limit(page.limit).execute();
  return rows.map(toStored);
};

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
