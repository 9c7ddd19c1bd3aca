import { sql } from 'kysely';
import type { EventKind, InboundEvent } from '../core/message.ts';
import type { InboxClass, InboxState } from './schema.ts';
import type { Reading, Writing } from './store.ts';

/** One step in deciding what to do with an event, in order. */
export interface Decision {
  readonly step: string;
  readonly verdict: string;
}

export interface NewInboxItem {
  readonly event: InboundEvent;
  readonly class: InboxClass;
  readonly decisions: readonly Decision[];
  /** Absent for an event that is skipped on purpose. */
  readonly place?: { readonly lane: string; readonly sessionId: string; readonly sessionKey: string };
  readonly skipped?: string;
}

export interface InboxItem {
  readonly id: number;
  readonly event: InboundEvent;
  readonly messageId: number | null;
  readonly sessionId: string;
  readonly sessionKey: string;
}

/** The row's id, or undefined when the platform has delivered this event before. */
export const insertInboxItem = async (tx: Writing, item: NewInboxItem): Promise<number | undefined> => {
  const row = await tx.q
    .insertInto('inbox')
    .values({
      account: item.event.account,
      chat_id: item.event.chat.id,
      kind: item.event.kind,
      native_id: item.event.nativeId,
      class: item.class,
      lane: item.place?.lane ?? null,
      session_id: item.place?.sessionId ?? null,
      session_key: item.place?.sessionKey ?? null,
      event: JSON.stringify(item.event),
      state: item.skipped === undefined ? 'waiting' : 'skipped',
      reason: item.skipped ?? null,
      decisions: JSON.stringify(item.decisions),
      turn_id: null,
      message_id: null,
      received_at: tx.now,
      done_at: item.skipped === undefined ? null : tx.now,
    })
    .onConflict((conflict) => conflict.columns(['account', 'chat_id', 'native_id', 'kind']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id;
};

export const isKnownEvent = async (db: Reading, event: { account: string; chatId: string; nativeId: string; kind: EventKind }): Promise<boolean> => {
  const row = await db.q
    .selectFrom('inbox')
    .select('id')
    .where('account', '=', event.account)
    .where('chat_id', '=', event.chatId)
    .where('native_id', '=', event.nativeId)
    .where('kind', '=', event.kind)
    .executeTakeFirst();
  return row !== undefined;
};

/** The stored message that an edit refers to. */
export const findMessage = async (db: Reading, message: { account: string; chatId: string; nativeId: string }): Promise<InboxItem | undefined> => {
  const row = await db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('account', '=', message.account)
    .where('chat_id', '=', message.chatId)
    .where('native_id', '=', message.nativeId)
    .where('kind', '=', 'message')
    .executeTakeFirst();
  return row === undefined ? undefined : toItem(row);
};

/** False once a turn has taken the message up. */
export const replaceWaitingText = async (tx: Writing, item: InboxItem, text: string): Promise<boolean> => {
  const event: InboundEvent = { ...item.event, text };
  const result = await tx.q.updateTable('inbox').set({ event: JSON.stringify(event) }).where('id', '=', item.id).where('state', '=', 'waiting').executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

/** Keeps what a message says now that a turn has taken it up, so that a further edit is compared with that. */
export const noteEdit = async (tx: Writing, item: InboxItem, text: string): Promise<void> => {
  const event: InboundEvent = { ...item.event, text };
  await tx.q.updateTable('inbox').set({ event: JSON.stringify(event) }).where('id', '=', item.id).execute();
};

const toItem = (row: { id: number; event: string; message_id: number | null; session_id: string | null; session_key: string | null }): InboxItem => ({
  id: row.id,
  event: JSON.parse(row.event) as InboundEvent,
  messageId: row.message_id,
  sessionId: row.session_id ?? '',
  sessionKey: row.session_key ?? '',
});

/** What waits in a lane, oldest first. */
export const waitingItems = async (db: Reading, lane: string, limit: number): Promise<InboxItem[]> => {
  const rows = await db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('lane', '=', lane)
    .where('state', '=', 'waiting')
    .where('class', '=', 'chat')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toItem);
};

export const countWaiting = async (db: Reading, lane: string): Promise<number> => {
  const row = await db.q
    .selectFrom('inbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('lane', '=', lane)
    .where('state', '=', 'waiting')
    .where('class', '=', 'chat')
    .executeTakeFirstOrThrow();
  return Number(row.count);
};

export const turnItems = async (db: Reading, turnId: number): Promise<InboxItem[]> => {
  const rows = await db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('turn_id', '=', turnId)
    .where('state', '=', 'running')
    .orderBy('id')
    .execute();
  return rows.map(toItem);
};

/** Commands and answers that were stored but not carried out before the process ended. */
export const openControlItems = async (db: Reading, limit: number): Promise<InboxItem[]> => {
  const rows = await db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('state', '=', 'waiting')
    .where('class', '=', 'control')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toItem);
};

export const findControlItem = async (db: Reading, id: number): Promise<InboxItem | undefined> => {
  const row = await db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('class', '=', 'control')
    .executeTakeFirst();
  return row === undefined ? undefined : toItem(row);
};

export const joinTurn = async (tx: Writing, ids: readonly number[], turnId: number): Promise<void> => {
  if (ids.length === 0) return;
  await tx.q.updateTable('inbox').set({ state: 'running', turn_id: turnId }).where('id', 'in', [...ids]).execute();
};

export const setTranscriptRow = async (tx: Writing, id: number, messageId: number): Promise<void> => {
  await tx.q.updateTable('inbox').set({ message_id: messageId }).where('id', '=', id).execute();
};

export const closeTurnItems = async (tx: Writing, turnId: number, outcome: { state: Extract<InboxState, 'done' | 'set_aside'>; reason: string }): Promise<void> => {
  await tx.q.updateTable('inbox').set({ state: outcome.state, reason: outcome.reason, done_at: tx.now }).where('turn_id', '=', turnId).where('state', '=', 'running').execute();
};

export const closeItem = async (tx: Writing, id: number, reason: string): Promise<boolean> => {
  const result = await tx.q.updateTable('inbox').set({ state: 'done', reason, done_at: tx.now }).where('id', '=', id).where('state', '=', 'waiting').executeTakeFirst();
  return result.numUpdatedRows === 1n;
};

/** Takes waiting messages out of a lane because their conversation ended; answers them, so that the caller keeps what was said. */
export const withdrawWaiting = async (tx: Writing, lane: string, reason: string): Promise<InboxItem[]> => {
  const rows = await tx.q
    .updateTable('inbox')
    .set({ state: 'skipped', reason, done_at: tx.now })
    .where('lane', '=', lane)
    .where('state', '=', 'waiting')
    .where('class', '=', 'chat')
    .returning(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .execute();
  return rows.map(toItem).toSorted((a, b) => a.id - b.id);
};

export const inboxCounts = async (db: Reading): Promise<Readonly<Record<string, number>>> => {
  const rows = await db.q
    .selectFrom('inbox')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .where('state', 'in', ['waiting', 'running', 'set_aside'])
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.count)]));
};

/** Milliseconds since the oldest message that is still unanswered arrived. */
export const oldestOpenMs = async (db: Reading): Promise<number | undefined> => {
  const row = await db.q
    .selectFrom('inbox')
    .select(sql<number | null>`${db.now} - min(received_at)`.as('age'))
    .where('state', 'in', ['waiting', 'running'])
    .executeTakeFirst();
  return row?.age == null ? undefined : Number(row.age);
};
