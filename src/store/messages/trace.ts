import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { InboundEvent, Target } from '../../core/message.ts';
import type { InboxRow, InboxState, OutboxRow, OutboxState, TurnRow, TurnState } from '../schema/conversation-rows.ts';
import type { Reading } from '../store.ts';
import type { Decision } from './inbox.ts';
import type { Attempt } from './outbox.ts';

export interface TracedArrival {
  readonly id: number;
  readonly event: InboundEvent;
  readonly class: string;
  readonly state: InboxState;
  readonly reason: string | null;
  readonly decisions: readonly Decision[];
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
  readonly receivedAtMs: number;
  readonly doneAtMs: number | null;
}

export interface TracedTurn {
  readonly id: number;
  readonly sessionId: string;
  readonly state: TurnState;
  readonly attempts: number;
  readonly exitReason: string | null;
  readonly error: string | null;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
}

export interface TracedDelivery {
  readonly id: number;
  readonly key: string;
  readonly target: Target;
  readonly state: OutboxState;
  readonly attempts: number;
  /** It was sent a second time without knowing whether the first had arrived. */
  readonly repeated: boolean;
  readonly log: readonly Attempt[];
  readonly error: string | null;
  /** What the platform calls the messages that people see. */
  readonly messageIds: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The life of one message. What nobody sent (a scheduled answer, a notice of ours) has no arrival. */
export interface TracedMessage {
  readonly arrival: TracedArrival | null;
  readonly turn: TracedTurn | null;
  readonly deliveries: readonly TracedDelivery[];
}

const maxMessages = 10;
const maxDeliveries = 100;
/** Answers are looked for by the platform's id among this many of the newest deliveries; there is no index for it. */
const searchedDeliveries = 200_000;

const toArrival = (row: Selectable<InboxRow>): TracedArrival => ({
  id: row.id,
  event: JSON.parse(row.event) as InboundEvent,
  class: row.class,
  state: row.state,
  reason: row.reason,
  decisions: JSON.parse(row.decisions) as Decision[],
  sessionId: row.session_id,
  sessionKey: row.session_key,
  receivedAtMs: row.received_at,
  doneAtMs: row.done_at,
});

const toTurn = (row: Selectable<TurnRow>): TracedTurn => ({
  id: row.id,
  sessionId: row.session_id,
  state: row.state,
  attempts: row.attempts,
  exitReason: row.exit_reason,
  error: row.error,
  model: row.model,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at,
});

const toDelivery = (row: Selectable<OutboxRow>): TracedDelivery => ({
  id: row.id,
  key: row.key,
  target: JSON.parse(row.target) as Target,
  state: row.state,
  attempts: row.attempts,
  repeated: row.repeated === 1,
  log: JSON.parse(row.log) as Attempt[],
  error: row.error,
  messageIds: row.message_ids === null ? [] : (JSON.parse(row.message_ids) as string[]),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});

const findTurn = async (db: Reading, id: number | null): Promise<TracedTurn | null> => {
  const row = id === null ? undefined : await db.q.selectFrom('turns').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toTurn(row);
};

/** What a turn or an event itself (a command, a notice) has sent. */
const findDeliveries = async (db: Reading, cause: { turnId: number | null; inboxId: number | null }): Promise<TracedDelivery[]> => {
  const rows = await db.q
    .selectFrom('outbox')
    .selectAll()
    .where((eb) => eb.or([...(cause.turnId === null ? [] : [eb('turn_id', '=', cause.turnId)]), ...(cause.inboxId === null ? [] : [eb('inbox_id', '=', cause.inboxId)])]))
    .orderBy('id')
    .limit(maxDeliveries)
    .execute();
  return rows.map(toDelivery);
};

const traceArrival = async (db: Reading, row: Selectable<InboxRow>): Promise<TracedMessage> => ({
  arrival: toArrival(row),
  turn: await findTurn(db, row.turn_id),
  deliveries: await findDeliveries(db, { turnId: row.turn_id, inboxId: row.id }),
});

/** By our number, or by the platform's id of the event: one id may stand in several chats. */
const findArrivals = async (db: Reading, ref: string): Promise<Selectable<InboxRow>[]> => {
  const number = /^(?:in_)?(\d{1,15})$/.exec(ref)?.[1];
  const own = number === undefined ? [] : await db.q.selectFrom('inbox').selectAll().where('id', '=', Number(number)).execute();
  const native = await db.q.selectFrom('inbox').selectAll().where('native_id', '=', ref).orderBy('id', 'desc').limit(maxMessages).execute();
  return [...own, ...native];
};

const findAnswers = async (db: Reading, messageId: string): Promise<Selectable<OutboxRow>[]> => {
  const position = db.engine === 'sqlite' ? sql<number>`instr(message_ids, ${JSON.stringify(messageId)})` : sql<number>`strpos(message_ids, ${JSON.stringify(messageId)})`;
  return db.q
    .selectFrom('outbox')
    .selectAll()
    .where('id', '>', (eb) => eb.selectFrom('outbox').select(sql<number>`coalesce(max(id), 0) - ${sql.lit(searchedDeliveries)}`.as('from')))
    .where(position, '>', 0)
    .orderBy('id', 'desc')
    .limit(maxMessages)
    .execute();
};

/** What an answer was an answer to: the events of its turn, or the event that caused it, or nothing. */
const traceAnswer = async (db: Reading, answer: Selectable<OutboxRow>): Promise<TracedMessage[]> => {
  const causes = await db.q
    .selectFrom('inbox')
    .selectAll()
    .where((eb) => eb.or([...(answer.turn_id === null ? [] : [eb('turn_id', '=', answer.turn_id)]), ...(answer.inbox_id === null ? [] : [eb('id', '=', answer.inbox_id)])]))
    .orderBy('id')
    .limit(maxMessages)
    .execute();
  if (causes.length > 0) return Promise.all(causes.map((row) => traceArrival(db, row)));
  const deliveries = answer.turn_id === null ? [toDelivery(answer)] : await findDeliveries(db, { turnId: answer.turn_id, inboxId: null });
  return [{ arrival: null, turn: await findTurn(db, answer.turn_id), deliveries }];
};

/**
 * Everything known about a message: `ref` is a number of ours (`123`, `in_123`), the platform's id of an event, or the
 * platform's id of one of our answers. Several when that is ambiguous, at most ten, ours first.
 */
export const traceMessage = async (db: Reading, ref: string): Promise<TracedMessage[]> => {
  const found: TracedMessage[] = [];
  for (const row of await findArrivals(db, ref)) found.push(await traceArrival(db, row));
  for (const answer of await findAnswers(db, ref)) found.push(...(await traceAnswer(db, answer)));
  const seen = new Set<string>();
  const distinct = found.filter(({ arrival, deliveries }) => {
    const key = arrival === null ? `out ${deliveries.map((delivery) => delivery.id).join(' ')}` : `in ${arrival.id}`;
    return !seen.has(key) && seen.add(key);
  });
  return distinct.slice(0, maxMessages);
};

/** The event that a delivery answers without a turn. */
export interface AnsweredEvent extends Pick<TracedArrival, 'id' | 'class' | 'state' | 'receivedAtMs' | 'doneAtMs'> {
  readonly account: string;
  readonly chatId: string;
  readonly nativeId: string;
  readonly kind: string;
  /** The turn that has it by now. */
  readonly turnId: number | null;
  /** No delivery before this one answers it. */
  readonly isFirst: boolean;
}

/** What a delivery is the answer to, by its number in the outbox. */
export const answeredEvent = async (db: Reading, delivery: number): Promise<AnsweredEvent | undefined> => {
  const row = await db.q.selectFrom('outbox').innerJoin('inbox', 'inbox.id', 'outbox.inbox_id').selectAll('inbox').where('outbox.id', '=', delivery).executeTakeFirst();
  if (row === undefined) return undefined;
  const before = await db.q.selectFrom('outbox').select('id').where('inbox_id', '=', row.id).where('id', '<', delivery).limit(1).executeTakeFirst();
  return { id: row.id, class: row.class, state: row.state, receivedAtMs: row.received_at, doneAtMs: row.done_at, account: row.account, chatId: row.chat_id, nativeId: row.native_id, kind: row.kind, turnId: row.turn_id, isFirst: before === undefined };
};
