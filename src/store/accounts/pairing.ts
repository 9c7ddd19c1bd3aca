import { sql } from 'kysely';
import type { CodeHash } from '../../core/code-hash.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** `request`: a stranger asks to be let in. `invite`: an admin has made a code for somebody. */
export type PairingKind = 'request' | 'invite';

export interface PendingPairing extends CodeHash {
  readonly id: string;
  readonly account: string;
  readonly kind: PairingKind;
  /** Who asked, or who made the invitation. */
  readonly userId: string;
  readonly userName: string | null;
  readonly ageMs: number;
}

export interface Paired {
  readonly account: string;
  readonly userId: string;
  readonly userName: string | null;
  readonly approvedBy: string;
  readonly approvedAtMs: number;
}

/** Until the end of the transaction, nobody else changes the pairings of this account. */
export const lockPairing = async (tx: Writing, account: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`pairing:${account}`}))`.execute(tx.q);
};

export const addPending = async (tx: Writing, pending: Omit<PendingPairing, 'ageMs'>): Promise<void> => {
  const { id, account, kind, salt, hash } = pending;
  await tx.q.insertInto('pairing_requests').values({ id, account, kind, user_id: pending.userId, user_name: pending.userName, salt, hash, created_at: tx.now }).execute();
};

/** Oldest first; those older than `lifeMs` are not among them. */
export const pendingPairings = async (db: Reading, filter: { account?: string; kind?: PairingKind; lifeMs: number }): Promise<PendingPairing[]> => {
  let query = db.q.selectFrom('pairing_requests').selectAll().select(sql<number>`${db.now} - created_at`.as('age_ms')).where('created_at', '>=', inMs(db, -filter.lifeMs));
  if (filter.account !== undefined) query = query.where('account', '=', filter.account);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  const rows = await query.orderBy('created_at').orderBy('id').execute();
  return rows.map((row) => ({ id: row.id, account: row.account, kind: row.kind as PairingKind, userId: row.user_id, userName: row.user_name, salt: row.salt, hash: row.hash, ageMs: Number(row.age_ms) }));
};

/** How many of them were still there: of two who found the same one, one removes it. */
export const removePending = async (tx: Writing, ids: readonly string[]): Promise<number> => {
  if (ids.length === 0) return 0;
  const { numDeletedRows } = await tx.q.deleteFrom('pairing_requests').where('id', 'in', [...ids]).executeTakeFirst();
  return Number(numDeletedRows);
};

/** Whatever is older can no longer be used. */
export const removeExpired = async (tx: Writing, lifeMs: number): Promise<void> => {
  await tx.q.deleteFrom('pairing_requests').where('created_at', '<', inMs(tx, -lifeMs)).execute();
};

export const pair = async (tx: Writing, person: Omit<Paired, 'approvedAtMs'>): Promise<void> => {
  const values = { user_name: person.userName, approved_by: person.approvedBy, approved_at: tx.now };
  await tx.q
    .insertInto('pairings')
    .values({ account: person.account, user_id: person.userId, ...values })
    .onConflict((conflict) => conflict.columns(['account', 'user_id']).doUpdateSet(values))
    .execute();
};

export const isPaired = async (db: Reading, account: string, userIds: readonly string[]): Promise<boolean> => {
  const row = await db.q.selectFrom('pairings').select('user_id').where('account', '=', account).where('user_id', 'in', [...userIds]).limit(1).executeTakeFirst();
  return row !== undefined;
};

export const unpair = async (tx: Writing, account: string, userId: string): Promise<boolean> => {
  const result = await tx.q.deleteFrom('pairings').where('account', '=', account).where('user_id', '=', userId).executeTakeFirst();
  return result.numDeletedRows > 0n;
};

export const listPaired = async (db: Reading): Promise<Paired[]> => {
  const rows = await db.q.selectFrom('pairings').selectAll().orderBy('account').orderBy('approved_at').execute();
  return rows.map((row) => ({ account: row.account, userId: row.user_id, userName: row.user_name, approvedBy: row.approved_by, approvedAtMs: row.approved_at }));
};
