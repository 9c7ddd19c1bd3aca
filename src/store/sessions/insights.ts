import { sql } from 'kysely';
import { inMs } from '../store.ts';
import type { Reading } from '../store.ts';

export interface InsightsFilter {
  readonly agent: string;
  readonly days: number;
  /** Only conversations of this person. */
  readonly owner?: { readonly account: string; readonly userId: string };
}

export interface Insights {
  readonly answers: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly sessions: number;
  /** Of the conversations that were active in the time, from their beginning. */
  readonly messages: number;
  readonly models: readonly { readonly model: string; readonly answers: number }[];
  readonly places: readonly { readonly account: string; readonly chatId: string; readonly answers: number }[];
  /** By day since the epoch, in UTC; days without an answer are missing. */
  readonly daily: readonly { readonly day: number; readonly answers: number }[];
  /** There were more answers than were looked at. */
  readonly cut: boolean;
}

const dayMs = 86_400_000;
/** What is looked at, so that asking costs little however much was said. */
const mostTurns = 20_000;
const mostSessions = 5000;
const mostListed = 5;

const number = (value: unknown): number => Number(value ?? 0);

/** The newest ended turns of the time. */
const turnsOf = (db: Reading, { agent, days, owner }: InsightsFilter) => {
  const chatId = db.engine === 'sqlite' ? sql<string>`json_extract(turns.target, '$.chatId')` : sql<string>`turns.target::json ->> 'chatId'`;
  let turns = db.q
    .selectFrom('turns')
    .innerJoin('sessions', 'sessions.id', 'turns.session_id')
    .select(['turns.model', 'turns.input_tokens', 'turns.output_tokens', 'sessions.account', chatId.as('chat_id'), sql<number>`turns.ended_at / ${sql.lit(dayMs)}`.as('day')])
    .select(sql<number>`case when turns.exit_reason in ('model_error', 'internal_error', 'deadline') then 1 else 0 end`.as('failed'))
    .where('turns.state', '=', 'done')
    .where('turns.ended_at', '>=', inMs(db, -days * dayMs))
    .where('sessions.agent', '=', agent);
  if (owner !== undefined) turns = turns.where('sessions.account', '=', owner.account).where('sessions.user_id', '=', owner.userId);
  return turns.orderBy('turns.ended_at', 'desc').limit(mostTurns).as('turns');
};

const sessionsOf = async (db: Reading, { agent, days, owner }: InsightsFilter): Promise<{ sessions: number; messages: number }> => {
  let active = db.q.selectFrom('sessions').select('message_count').where('active_at', '>=', inMs(db, -days * dayMs)).where('agent', '=', agent).where('message_count', '>', 0);
  if (owner !== undefined) active = active.where('account', '=', owner.account).where('user_id', '=', owner.userId);
  const newest = active.orderBy('active_at', 'desc').limit(mostSessions).as('active');
  const row = await db.q.selectFrom(newest).select((eb) => [eb.fn.countAll<number>().as('sessions'), eb.fn.sum<number>('message_count').as('messages')]).executeTakeFirst();
  return { sessions: number(row?.sessions), messages: number(row?.messages) };
};

/** What an agent did in the last days, for everybody or for one person. Looks at a bounded number of answers. */
export const readInsights = async (db: Reading, filter: InsightsFilter): Promise<Insights> => {
  const count = sql<number>`count(*)`;
  const totals = await db.q
    .selectFrom(turnsOf(db, filter))
    .select((eb) => [count.as('answers'), eb.fn.sum<number>('failed').as('failed'), eb.fn.sum<number>('input_tokens').as('input'), eb.fn.sum<number>('output_tokens').as('output')])
    .executeTakeFirst();
  const models = await db.q.selectFrom(turnsOf(db, filter)).select(['model', count.as('answers')]).where('model', 'is not', null).groupBy('model').orderBy('answers', 'desc').orderBy('model').limit(mostListed).execute();
  const places = await db.q.selectFrom(turnsOf(db, filter)).select(['account', 'chat_id', count.as('answers')]).groupBy(['account', 'chat_id']).orderBy('answers', 'desc').orderBy('account').orderBy('chat_id').limit(mostListed).execute();
  const daily = await db.q.selectFrom(turnsOf(db, filter)).select(['day', count.as('answers')]).groupBy('day').orderBy('day').execute();
  return {
    answers: number(totals?.answers),
    failed: number(totals?.failed),
    inputTokens: number(totals?.input),
    outputTokens: number(totals?.output),
    ...(await sessionsOf(db, filter)),
    models: models.map((row) => ({ model: row.model ?? '', answers: number(row.answers) })),
    places: places.map((row) => ({ account: row.account, chatId: row.chat_id ?? '', answers: number(row.answers) })),
    daily: daily.map((row) => ({ day: number(row.day), answers: number(row.answers) })),
    cut: number(totals?.answers) >= mostTurns,
  };
};
