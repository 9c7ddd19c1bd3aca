import { sql } from 'kysely';
import { inMs } from './store.ts';
import type { Reading, Writing } from './store.ts';

export interface Limit {
  readonly count: number;
  /** How long it still holds; zero or less when it does not. */
  readonly leftMs: number;
}

/** Until the end of the transaction, nobody else counts there. */
export const lockLimit = async (tx: Writing, scope: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`limit:${scope}`}))`.execute(tx.q);
};

/** A counter with an end, kept across restarts and shared by all processes. */
export const readLimit = async (db: Reading, scope: string): Promise<Limit> => {
  const row = await db.q.selectFrom('limits').select(['count', sql<number>`until_ms - ${db.now}`.as('left_ms')]).where('scope', '=', scope).executeTakeFirst();
  return row === undefined ? { count: 0, leftMs: 0 } : { count: row.count, leftMs: Number(row.left_ms) };
};

export const writeLimit = async (tx: Writing, scope: string, limit: { count: number; forMs: number }): Promise<void> => {
  const values = { count: limit.count, until_ms: inMs(tx, limit.forMs) };
  await tx.q
    .insertInto('limits')
    .values({ scope, ...values })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet(values))
    .execute();
};

export const clearLimit = async (tx: Writing, scope: string): Promise<void> => {
  await tx.q.deleteFrom('limits').where('scope', '=', scope).execute();
};
