import { sql } from 'kysely';
import type { Reading } from '../store.ts';

export interface Backlog {
  /** Of turns that have not ended. */
  readonly runningTurns: number;
  readonly longestTurnMs: number;
  /** Of deliveries that are still to be made. */
  readonly openDeliveries: number;
  readonly oldestDeliveryMs: number;
  /** Deliveries that were given up within the last day. */
  readonly failedToday: number;
  /** Messages that were given up because they ended the process again and again. */
  readonly setAside: number;
  /** How far the time of the newest message is ahead of the clock. */
  readonly aheadMs: number;
}

const dayMs = 86_400_000;

/** What is under way and what was left behind. */
export const readBacklog = async (db: Reading): Promise<Backlog> => {
  const turns = await db.q.selectFrom('turns').select((eb) => [eb.fn.countAll<number>().as('count'), sql<number | null>`${db.now} - min(started_at)`.as('age')]).where('state', '=', 'running').executeTakeFirstOrThrow();
  const open = await db.q.selectFrom('outbox').select((eb) => [eb.fn.countAll<number>().as('count'), sql<number | null>`${db.now} - min(created_at)`.as('age')]).where('state', 'in', ['pending', 'sending', 'unknown']).executeTakeFirstOrThrow();
  const failed = await db.q.selectFrom('outbox').select((eb) => eb.fn.countAll<number>().as('count')).where('state', '=', 'failed').where('updated_at', '>', sql<number>`${db.now} - ${dayMs}`).executeTakeFirstOrThrow();
  const aside = await db.q.selectFrom('inbox').select((eb) => eb.fn.countAll<number>().as('count')).where('state', '=', 'set_aside').executeTakeFirstOrThrow();
  const newest = await db.q.selectFrom('inbox').select(sql<number>`received_at - ${db.now}`.as('ahead')).orderBy('id', 'desc').limit(1).executeTakeFirst();
  return {
    runningTurns: Number(turns.count),
    longestTurnMs: Number(turns.age ?? 0),
    openDeliveries: Number(open.count),
    oldestDeliveryMs: Number(open.age ?? 0),
    failedToday: Number(failed.count),
    setAside: Number(aside.count),
    aheadMs: Math.max(0, Number(newest?.ahead ?? 0)),
  };
};

export interface CutOffMessage {
  readonly id: number;
  readonly account: string;
  readonly chatId: string;
  readonly reason: string | null;
}

/** The last messages of turns that nobody went on with, newest first. */
export const cutOffMessages = async (db: Reading, limit: number): Promise<CutOffMessage[]> => {
  const rows = await db.q.selectFrom('inbox').select(['id', 'account', 'chat_id', 'reason']).where('state', '=', 'cut_off').orderBy('done_at', 'desc').limit(limit).execute();
  return rows.map((row) => ({ id: row.id, account: row.account, chatId: row.chat_id, reason: row.reason }));
};
