import { sql } from 'kysely';
import { prepared } from '../prepared.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** Keeps what a platform said about waiting, so that a restart does not forget it. The later end wins. */
export const closeGate = async (tx: Writing, gate: { scope: string; forMs: number; reason: string }): Promise<void> => {
  await tx.q
    .insertInto('gates')
    .values({ scope: gate.scope, until_ms: inMs(tx, gate.forMs), reason: gate.reason })
    .onConflict((conflict) =>
      conflict
        .column('scope')
        .doUpdateSet((eb) => ({ until_ms: eb.ref('excluded.until_ms'), reason: eb.ref('excluded.reason') }))
        .whereRef('excluded.until_ms', '>', 'gates.until_ms'),
    )
    .execute();
};

export const closedGates = async (db: Reading): Promise<{ scope: string; leftMs: number }[]> => {
  const rows = await db.q.selectFrom('gates').select(['scope', sql<number>`until_ms - ${db.now}`.as('left_ms')]).where('until_ms', '>', db.now).execute();
  return rows.map((row) => ({ scope: row.scope, leftMs: Number(row.left_ms) }));
};

/** How long one scope is still closed; zero when it is open. */
export const gateLeftMs = async (db: Reading, scope: string): Promise<number> => {
  const row = await db.q.selectFrom('gates').select(sql<number>`until_ms - ${db.now}`.as('left_ms')).where('scope', '=', scope).executeTakeFirst();
  return Math.max(0, Number(row?.left_ms ?? 0));
};

export const markDead = async (tx: Writing, target: { account: string; chatId: string; reason: string }): Promise<void> => {
  await tx.q
    .insertInto('dead_targets')
    .values({ account: target.account, chat_id: target.chatId, reason: target.reason, since: tx.now })
    .onConflict((conflict) => conflict.columns(['account', 'chat_id']).doNothing())
    .execute();
};

export const markAlive = async (tx: Writing, account: string, chatId: string): Promise<void> => {
  await deleteDead(tx, { account, chatId });
};

const deleteDead = prepared((db, target: { account: string; chatId: string }) => db.q.deleteFrom('dead_targets').where('account', '=', target.account).where('chat_id', '=', target.chatId));

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
