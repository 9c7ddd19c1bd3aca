import { sql } from 'kysely';
import type { OutboundMessage } from '../../core/message.ts';
import { enqueueLane, outLane } from '../lanes/lanes.ts';
import { prepared } from '../prepared.ts';
import type { OutboxState } from '../schema/conversation-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** What a delivery does. `finishes` names a live preview that gets its final text; when that message is gone, it is sent anew. */
export interface Delivery {
  readonly message: OutboundMessage;
  readonly finishes?: string;
  /** The key of an earlier delivery whose message gets this text. Where that message is not there or cannot be changed, nothing happens. */
  readonly changes?: string;
  /** Texts that follow as messages of their own, because the platform found the whole too long. */
  readonly rest?: readonly string[];
  /** What the last of them carries. */
  readonly closing?: Pick<OutboundMessage, 'media' | 'choices'>;
  /** How often a try failed although the account had delivered something else since the try before. */
  readonly failedAlone?: number;
}

export interface Attempt {
  readonly atMs: number;
  readonly outcome: string;
  readonly detail?: string;
}

export interface OutboxItem {
  readonly id: number;
  /** Null for what no turn has said. */
  readonly turnId: number | null;
  readonly delivery: Delivery;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly repeated: boolean;
  readonly log: readonly Attempt[];
  /** What the platform called the parts that are already there. */
  readonly messageIds: readonly string[];
  /** How long ago it was enqueued. */
  readonly ageMs: number;
  /** How long ago it was last touched: tried, when it is `sending`. */
  readonly untouchedMs: number;
  /** How long it still has to wait; zero or less when it may go. */
  readonly waitMs: number;
}

/** Enqueues an outward effect in the order of its chat. The same key again is the same effect and changes nothing. */
export const enqueueDelivery = async (tx: Writing, delivery: Delivery, cause: { turnId?: number; inboxId?: number }): Promise<void> => {
  const { target, key } = delivery.message;
  const lane = outLane(target.account, target.chatId);
  // Before the row gets its number: what another transaction enqueues meanwhile must not come to stand between two rows of this one.
  await enqueueLane(tx, { lane, kind: 'out' });
  await insertDelivery(tx, {
    key,
    lane,
    account: target.account,
    chatId: target.chatId,
    target: JSON.stringify(target),
    payload: JSON.stringify(delivery),
    turnId: cause.turnId ?? null,
    inboxId: cause.inboxId ?? null,
  });
};

interface NewDelivery {
  readonly key: string;
  readonly lane: string;
  readonly account: string;
  readonly chatId: string;
  readonly target: string;
  readonly payload: string;
  readonly turnId: number | null;
  readonly inboxId: number | null;
}

const insertDelivery = prepared((db, row: NewDelivery) =>
  db.q
    .insertInto('outbox')
    .values({
      key: row.key,
      lane: row.lane,
      account: row.account,
      chat_id: row.chatId,
      target: row.target,
      payload: row.payload,
      state: 'pending',
      turn_id: row.turnId,
      inbox_id: row.inboxId,
      message_ids: null,
      error: null,
      created_at: db.now,
      updated_at: db.now,
    })
    .onConflict((conflict) => conflict.column('key').doNothing()),
);

/** What the platform calls the one message of a delivery; undefined unless it is there. */
export const sentMessageId = async (db: Reading, key: string): Promise<string | undefined> => {
  const row = await db.q.selectFrom('outbox').select('message_ids').where('key', '=', key).where('state', '=', 'sent').executeTakeFirst();
  const ids = row?.message_ids === undefined || row.message_ids === null ? [] : (JSON.parse(row.message_ids) as string[]);
  return ids.length === 1 ? ids[0] : undefined;
};

/** What a delivery says, or said; undefined when none was ever enqueued under this key. */
export const enqueuedText = async (db: Reading, key: string): Promise<string | undefined> => {
  const row = await db.q.selectFrom('outbox').select('payload').where('key', '=', key).executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.payload) as Delivery).message.text;
};

/** The oldest delivery of a lane that is not settled. */
export const headOfLane = async (db: Reading, lane: string): Promise<OutboxItem | undefined> => {
  const [row] = (await selectHead(db, { lane })).rows;
  if (row === undefined) return undefined;
  return {
    id: row.id,
    turnId: row.turn_id,
    delivery: JSON.parse(row.payload) as Delivery,
    state: row.state,
    attempts: row.attempts,
    repeated: row.repeated === 1,
    log: JSON.parse(row.log) as Attempt[],
    messageIds: row.message_ids === null ? [] : (JSON.parse(row.message_ids) as string[]),
    ageMs: Number(row.age_ms),
    untouchedMs: Number(row.untouched_ms),
    waitMs: Number(row.wait_ms),
  };
};

const selectHead = prepared((db, of: { lane: string }) => {
  // One look into the index for each state: asking for all at once would sort everything that waits in the lane.
  const first = (state: OutboxState) => db.q.selectFrom('outbox').select((eb) => eb.fn.min('id').as('id')).where('lane', '=', of.lane).where('state', '=', state);
  const heads = first('pending').unionAll(first('sending')).unionAll(first('unknown')).as('heads');
  return db.q
    .selectFrom('outbox')
    .select(['id', 'turn_id', 'payload', 'state', 'attempts', 'repeated', 'log', 'message_ids', sql<number>`${db.now} - created_at`.as('age_ms'), sql<number>`${db.now} - updated_at`.as('untouched_ms'), sql<number>`not_before - ${db.now}`.as('wait_ms')])
    .where('id', '=', (eb) => eb.selectFrom(heads).select((sub) => sub.fn.min('heads.id').as('id')));
});

export const hasOpenDeliveries = async (db: Reading, lane: string): Promise<boolean> => {
  const row = await db.q.selectFrom('outbox').select('id').where('lane', '=', lane).where('state', 'in', ['pending', 'sending', 'unknown']).limit(1).executeTakeFirst();
  return row !== undefined;
};

/** What was to be tried again later may go now. A rate limit is the gate's to keep, not the row's. */
export const expediteDeliveries = async (tx: Writing, account: string): Promise<void> => {
  await tx.q.updateTable('outbox').set({ not_before: tx.now }).where('account', '=', account).where('state', 'in', ['pending', 'unknown']).where('not_before', '>', tx.now).execute();
};

/** Written before the call, so that after a crash the row is known to have an open outcome. */
export const markSending = async (tx: Writing, id: number): Promise<void> => {
  await updateSending(tx, { id });
};

const updateSending = prepared((db, row: { id: number }) => db.q.updateTable('outbox').set((eb) => ({ state: 'sending', attempts: eb('attempts', '+', 1), updated_at: db.now })).where('id', '=', row.id));

export interface Settlement {
  readonly state: OutboxState;
  readonly log: readonly Attempt[];
  readonly messageIds?: readonly string[];
  readonly error?: string;
  readonly delayMs?: number;
  /** Takes the attempt back: waiting for a rate limit or shutting down is not one. */
  readonly uncounted?: boolean;
  readonly repeated?: boolean;
  readonly delivery?: Delivery;
}

const longestLog = 20;

export const settleDelivery = async (tx: Writing, id: number, settlement: Settlement): Promise<void> => {
  await updateSettled(tx, {
    id,
    state: settlement.state,
    log: JSON.stringify(settlement.log.slice(-longestLog)),
    error: settlement.error ?? null,
    delayMs: Math.ceil(settlement.delayMs ?? 0),
    messageIds: settlement.messageIds === undefined ? null : JSON.stringify(settlement.messageIds),
    takenBack: settlement.uncounted === true ? 1 : 0,
    repeated: settlement.repeated === true ? 1 : null,
    payload: settlement.delivery === undefined ? null : JSON.stringify(settlement.delivery),
  });
};

/** Null leaves a column as it is, but for `error`. */
interface SettledRow {
  readonly id: number;
  readonly state: OutboxState;
  readonly log: string;
  readonly error: string | null;
  readonly delayMs: number;
  readonly messageIds: string | null;
  readonly takenBack: number;
  readonly repeated: number | null;
  readonly payload: string | null;
}

const updateSettled = prepared((db, row: SettledRow) =>
  db.q
    .updateTable('outbox')
    .set((eb) => ({
      state: row.state,
      log: row.log,
      error: row.error,
      not_before: sql<number>`${db.now} + ${row.delayMs}`,
      updated_at: db.now,
      message_ids: sql<string | null>`coalesce(${row.messageIds}, message_ids)`,
      attempts: eb('attempts', '-', row.takenBack),
      repeated: sql<number>`coalesce(${row.repeated}, repeated)`,
      payload: sql<string>`coalesce(${row.payload}, payload)`,
    }))
    .where('id', '=', row.id),
);

export const outboxCounts = async (db: Reading): Promise<Readonly<Record<string, number>>> => {
  const rows = await db.q
    .selectFrom('outbox')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .where('state', 'in', ['pending', 'sending', 'unknown', 'failed'])
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.count)]));
};

/** Takes back what has not been tried yet. */
export const withdrawPending = async (tx: Writing, keys: readonly string[], reason: string): Promise<void> => {
  if (keys.length === 0) return;
  await tx.q.updateTable('outbox').set({ state: 'cancelled', error: reason, updated_at: tx.now }).where('key', 'in', keys).where('state', '=', 'pending').execute();
};

/** How long the oldest message waits that is still to be delivered. */
export const oldestDeliveryMs = async (db: Reading): Promise<number | undefined> => {
  const row = await db.q
    .selectFrom('outbox')
    .select(sql<number | null>`${db.now} - min(created_at)`.as('age'))
    .where('state', 'in', ['pending', 'sending', 'unknown'])
    .executeTakeFirst();
  return row?.age == null ? undefined : Number(row.age);
};

export interface FailedDelivery {
  readonly id: number;
  readonly account: string;
  readonly chatId: string;
  readonly error: string | null;
  readonly attempts: number;
  readonly updatedAtMs: number;
}

export const failedDeliveries = async (db: Reading, limit: number): Promise<FailedDelivery[]> => {
  const rows = await db.q.selectFrom('outbox').select(['id', 'account', 'chat_id', 'error', 'attempts', 'updated_at']).where('state', '=', 'failed').orderBy('updated_at', 'desc').limit(limit).execute();
  return rows.map((row) => ({ id: row.id, account: row.account, chatId: row.chat_id, error: row.error, attempts: row.attempts, updatedAtMs: row.updated_at }));
};
