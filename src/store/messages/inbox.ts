import { sql } from 'kysely';
import type { EventKind, InboundEvent } from '../../core/message.ts';
import { prepared } from '../prepared.ts';
import type { InboxClass, InboxRow, InboxState } from '../schema/conversation-rows.ts';
import { steadyLimit } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** Written out: the index of commands has a condition on the class, so that SQLite would plan a query anew whenever a value is bound to it. */
const chat = sql.lit<InboxClass>('chat');

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
  const { rows } = await (item.skipped === undefined ? insertWaiting : insertSkipped)(tx, {
    account: item.event.account,
    chat_id: item.event.chat.id,
    kind: item.event.kind,
    native_id: item.event.nativeId,
    class: item.class,
    lane: item.place?.lane ?? null,
    session_id: item.place?.sessionId ?? null,
    session_key: item.place?.sessionKey ?? null,
    event: JSON.stringify(item.event),
    reason: item.skipped ?? null,
    decisions: JSON.stringify(item.decisions),
  });
  return rows[0]?.id;
};

type NewRow = Pick<InboxRow, 'account' | 'chat_id' | 'kind' | 'native_id' | 'class' | 'lane' | 'session_id' | 'session_key' | 'event' | 'reason' | 'decisions'>;

const insertAs = (state: 'waiting' | 'skipped') =>
  prepared((db, row: NewRow) =>
    db.q
      .insertInto('inbox')
      .values({
        account: row.account,
        chat_id: row.chat_id,
        kind: row.kind,
        native_id: row.native_id,
        class: row.class,
        lane: row.lane,
        session_id: row.session_id,
        session_key: row.session_key,
        event: row.event,
        state,
        reason: row.reason,
        decisions: row.decisions,
        turn_id: null,
        message_id: null,
        received_at: db.now,
        done_at: state === 'waiting' ? null : db.now,
      })
      .onConflict((conflict) => conflict.columns(['account', 'chat_id', 'native_id', 'kind']).doNothing())
      .returning('id'),
  );

const insertWaiting = insertAs('waiting');
const insertSkipped = insertAs('skipped');

interface EventName {
  readonly account: string;
  readonly chatId: string;
  readonly nativeId: string;
  readonly kind: EventKind;
}

export const isKnownEvent = async (db: Reading, event: EventName): Promise<boolean> => (await selectKnown(db, event)).rows.length > 0;

const selectKnown = prepared((db, event: EventName) =>
  db.q.selectFrom('inbox').select('id').where('account', '=', event.account).where('chat_id', '=', event.chatId).where('native_id', '=', event.nativeId).where('kind', '=', event.kind),
);

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
  const { rows } = await selectWaiting(db, { lane, limit });
  return rows.map(toItem);
};

const selectWaiting = prepared((db, of: { lane: string; limit: number }) =>
  db.q
    .selectFrom('inbox')
    .select(['id', 'event', 'message_id', 'session_id', 'session_key'])
    .where('lane', '=', of.lane)
    .where('state', '=', 'waiting')
    .where('class', '=', chat)
    .orderBy('id')
    .limit(steadyLimit(of.limit)),
);

/** The newest message that waits in a lane since before a turn of it began; zero when there is none. */
export const newestWaitingBefore = async (db: Reading, turn: { readonly lane: string; readonly id: number }): Promise<number> => {
  const row = await db.q
    .selectFrom('inbox')
    .select('id')
    .where('lane', '=', turn.lane)
    .where('state', '=', 'waiting')
    .where('class', '=', chat)
    .where('received_at', '<=', (eb) => eb.selectFrom('turns').select('started_at').where('turns.id', '=', turn.id))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? 0;
};

/** The last message that waits in each lane. */
export const newestWaiting = async (db: Reading, limit: number): Promise<{ lane: string; event: InboundEvent }[]> => {
  const newest = db.q.selectFrom('inbox').select((eb) => eb.fn.max('id').as('id')).where('state', '=', 'waiting').where('class', '=', chat).groupBy('lane').limit(limit);
  const rows = await db.q.selectFrom('inbox').select(['lane', 'event']).where('id', 'in', newest).execute();
  return rows.map((row) => ({ lane: row.lane ?? '', event: JSON.parse(row.event) as InboundEvent }));
};

/** How long the oldest message of a lane has waited; zero when none does. */
export const longestWaitMs = async (db: Reading, lane: string): Promise<number> => {
  const row = await db.q
    .selectFrom('inbox')
    .select(sql<number | null>`${db.now} - min(received_at)`.as('age'))
    .where('lane', '=', lane)
    .where('state', '=', 'waiting')
    .where('class', '=', 'chat')
    .executeTakeFirst();
  return Math.max(0, Number(row?.age ?? 0));
};

export const countWaiting = async (db: Reading, lane: string): Promise<number> => {
  const { rows } = await selectWaitingCount(db, { lane });
  return Number(rows[0]?.count ?? 0);
};

const selectWaitingCount = prepared((db, of: { lane: string }) =>
  db.q
    .selectFrom('inbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('lane', '=', of.lane)
    .where('state', '=', 'waiting')
    .where('class', '=', chat),
);

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
    .where('class', '=', sql.lit('control'))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toItem);
};

/** A row in whatever state it is. */
export const findItem = async (db: Reading, id: number): Promise<InboxItem | undefined> => {
  const row = await db.q.selectFrom('inbox').select(['id', 'event', 'message_id', 'session_id', 'session_key']).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : toItem(row);
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
  for (const id of ids) await updateJoined(tx, { id, turnId });
};

const updateJoined = prepared((db, item: { id: number; turnId: number }) => db.q.updateTable('inbox').set({ state: 'running', turn_id: item.turnId }).where('id', '=', item.id));

export const setTranscriptRow = async (tx: Writing, id: number, messageId: number): Promise<void> => {
  await updateTranscriptRow(tx, { id, messageId });
};

const updateTranscriptRow = prepared((db, item: { id: number; messageId: number }) => db.q.updateTable('inbox').set({ message_id: item.messageId }).where('id', '=', item.id));

export const closeTurnItems = async (tx: Writing, turnId: number, outcome: { state: Extract<InboxState, 'done' | 'set_aside' | 'cut_off'>; reason: string }): Promise<void> => {
  await updateClosed(tx, { turnId, ...outcome });
};

const updateClosed = prepared((db, items: { turnId: number; state: InboxState; reason: string }) =>
  db.q.updateTable('inbox').set({ state: items.state, reason: items.reason, done_at: db.now }).where('turn_id', '=', items.turnId).where('state', '=', 'running'),
);

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
    .where('class', '=', chat)
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

/** Adds what was decided about events after they were stored. */
export const addDecisions = async (tx: Writing, ids: readonly number[], decisions: readonly Decision[]): Promise<void> => {
  for (const id of ids) {
    const row = await tx.q.selectFrom('inbox').select('decisions').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) await tx.q.updateTable('inbox').set({ decisions: JSON.stringify([...(JSON.parse(row.decisions) as Decision[]), ...decisions]) }).where('id', '=', id).execute();
  }
};

/** Whether such a decision was taken about an event. */
export const hasDecision = async (db: Reading, id: number, step: string): Promise<boolean> => {
  const row = await db.q.selectFrom('inbox').select('decisions').where('id', '=', id).executeTakeFirst();
  return row !== undefined && (JSON.parse(row.decisions) as Decision[]).some((decision) => decision.step === step);
};

/** Takes back a notice that no turn has taken up; one that was taken up stays. */
export const withdrawNotice = async (tx: Writing, key: string): Promise<void> => {
  await tx.q.updateTable('inbox').set({ state: 'skipped', reason: 'known already', done_at: tx.now }).where('native_id', '=', key).where('kind', '=', 'notice').where('state', '=', 'waiting').execute();
};

/** When a message was stored. */
export const receivedAtMs = async (db: Reading, id: number): Promise<number | undefined> => (await db.q.selectFrom('inbox').select('received_at').where('id', '=', id).executeTakeFirst())?.received_at;
