import { sql } from 'kysely';
import type { Reading, Writing } from './store.ts';

/** Keeps what a platform said about waiting, so that a restart does not forget it. The later end wins. */
export const closeGate = async (tx: Writing, gate: { scope: string; forMs: number; reason: string }): Promise<void> => {
  const until = sql<number>`${tx.now} + ${gate.forMs}`;
  await tx.q
    .insertInto('gates')
    .values({ scope: gate.scope, until_ms: until, reason: gate.reason })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ until_ms: sql<number>`case when gates.until_ms > excluded.until_ms then gates.until_ms else excluded.until_ms end`, reason: gate.reason }))
    .execute();
};

export const closedGates = async (db: Reading): Promise<{ scope: string; leftMs: number }[]> => {
  const rows = await db.q.selectFrom('gates').select(['scope', sql<number>`until_ms - ${db.now}`.as('left_ms')]).where('until_ms', '>', db.now).execute();
  return rows.map((row) => ({ scope: row.scope, leftMs: Number(row.left_ms) }));
};

export const markDead = async (tx: Writing, target: { account: string; chatId: string; reason: string }): Promise<void> => {
  await tx.q
    .insertInto('dead_targets')
    .values({ account: target.account, chat_id: target.chatId, reason: target.reason, since: tx.now })
    .onConflict((conflict) => conflict.columns(['account', 'chat_id']).doNothing())
    .execute();
};

export const markAlive = async (tx: Writing, account: string, chatId: string): Promise<void> => {
  await tx.q.deleteFrom('dead_targets').where('account', '=', account).where('chat_id', '=', chatId).execute();
};

export interface DeadTarget {
  readonly account: string;
  readonly chatId: string;
  readonly reason: string;
  readonly sinceMs: number;
}

export const deadTargets = async (db: Reading): Promise<DeadTarget[]> => {
  const rows = await db.q.selectFrom('dead_targets').selectAll().orderBy('since', 'desc').execute();
  return rows.map((row) => ({ account: row.account, chatId: row.chat_id, reason: row.reason, sinceMs: row.since }));
};
