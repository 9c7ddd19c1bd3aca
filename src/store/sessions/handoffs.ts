import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import type { HandoffRow } from '../schema/reach-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** `null` for a conversation that was never handed over. */
export type HandoffStatus = HandoffRow['state'] | null;

export interface HandoffState {
  readonly state: HandoffStatus;
  /** Where to, as it was asked for: a platform or a whole target. */
  readonly platform: string | null;
  readonly error: string | null;
}

export interface PendingHandoff {
  readonly sessionId: string;
  readonly destination: string;
  readonly origin: Target | null;
  /** Since it was asked for. */
  readonly waitedMs: number;
}

const longestError = 500;

/** False for a conversation that does not exist, or that is being handed over already. Wakes the gateway. */
export const requestHandoff = async (tx: Writing, sessionId: string, request: { destination: string; origin?: Target }): Promise<boolean> => {
  const session = await tx.q.selectFrom('sessions').select('id').where('id', '=', sessionId).executeTakeFirst();
  if (session === undefined) return false;
  const fresh = { state: 'pending' as const, destination: request.destination, origin: request.origin === undefined ? null : JSON.stringify(request.origin), error: null, moved: null, owner: null, lease_until: 0, requested_at: tx.now, settled_at: null };
  const row = await tx.q
    .insertInto('handoffs')
    .values({ session_id: sessionId, ...fresh })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(fresh).where('handoffs.state', 'in', ['completed', 'failed']))
    .returning('session_id')
    .executeTakeFirst();
  if (row !== undefined) tx.notify('handoff', sessionId);
  return row !== undefined;
};

/** Null for a conversation that does not exist. */
export const getHandoffState = async (db: Reading, sessionId: string): Promise<HandoffState | null> => {
  const row = await db.q
    .selectFrom('sessions')
    .leftJoin('handoffs', 'handoffs.session_id', 'sessions.id')
    .select(['handoffs.state', 'handoffs.destination', 'handoffs.error'])
    .where('sessions.id', '=', sessionId)
    .executeTakeFirst();
  return row === undefined ? null : { state: row.state, platform: row.destination, error: row.error };
};

const waited = (db: Reading) => sql<number>`${db.now} - handoffs.requested_at`.as('waited');

const toPending = (row: Pick<HandoffRow, 'session_id' | 'destination' | 'origin'> & { readonly waited: number }): PendingHandoff => ({
  sessionId: row.session_id,
  destination: row.destination,
  origin: row.origin === null ? null : (JSON.parse(row.origin) as Target),
  waitedMs: Number(row.waited),
});

/** The oldest conversation first. */
export const listPendingHandoffs = async (db: Reading): Promise<PendingHandoff[]> => {
  const rows = await db.q
    .selectFrom('handoffs')
    .innerJoin('sessions', 'sessions.id', 'handoffs.session_id')
    .select(['handoffs.session_id', 'handoffs.destination', 'handoffs.origin', waited(db)])
    .where('handoffs.state', '=', 'pending')
    .orderBy('sessions.created_at')
    .orderBy('sessions.id')
    .execute();
  return rows.map(toPending);
};

/** True for exactly one of those who try. The claim holds for `leaseMs` unless it is extended. */
export const claimHandoff = async (tx: Writing, sessionId: string, claim: { owner: string; leaseMs: number }): Promise<boolean> => {
  const result = await tx.q
    .updateTable('handoffs')
    .set({ state: 'running', owner: claim.owner, lease_until: inMs(tx, claim.leaseMs) })
    .where('session_id', '=', sessionId)
    .where('state', '=', 'pending')
    .executeTakeFirst();
  if (result.numUpdatedRows === 1n) tx.notify('handoff', sessionId);
  return result.numUpdatedRows === 1n;
};

/** Says that the claim is alive; throws when it was lost meanwhile, so that whoever holds on to it goes no further. */
export const extendHandoff = async (tx: Writing, sessionId: string, claim: { owner: string; leaseMs: number }): Promise<void> => {
  const result = await tx.q
    .updateTable('handoffs')
    .set({ lease_until: inMs(tx, claim.leaseMs) })
    .where('session_id', '=', sessionId)
    .where('state', '=', 'running')
    .where('owner', '=', claim.owner)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw new StoreError('lane_lost', `the handoff of ${sessionId} is not ours any more`);
};

/** Keeps that the conversation stands in its new place, in the transaction that puts it there. */
export const noteMove = async (tx: Writing, sessionId: string, moved: unknown): Promise<void> => {
  await tx.q.updateTable('handoffs').set({ moved: JSON.stringify(moved) }).where('session_id', '=', sessionId).execute();
};

/** It has happened. That outweighs a failure that somebody concluded meanwhile. False when it was completed before. */
export const completeHandoff = (tx: Writing, sessionId: string): Promise<boolean> => settle(tx, sessionId, { from: ['running', 'failed'], to: 'completed', error: null });

/** Without `from`, whether or not somebody works on it; a completed one stays completed. */
export const failHandoff = async (tx: Writing, sessionId: string, reason: string, from: readonly ('pending' | 'running')[] = ['pending', 'running']): Promise<boolean> =>
  settle(tx, sessionId, { from, to: 'failed', error: reason.slice(0, longestError).toWellFormed() });

const settle = async (tx: Writing, sessionId: string, change: { from: readonly HandoffRow['state'][]; to: 'completed' | 'failed'; error: string | null }): Promise<boolean> => {
  const result = await tx.q
    .updateTable('handoffs')
    .set({ state: change.to, error: change.error, moved: null, owner: null, lease_until: 0, settled_at: tx.now })
    .where('session_id', '=', sessionId)
    .where('state', 'in', [...change.from])
    .executeTakeFirst();
  if (result.numUpdatedRows === 1n) tx.notify('handoff', sessionId);
  return result.numUpdatedRows === 1n;
};

/** Fails what was abandoned before the conversation had moved: a thread may have been opened for it, so it is not tried again by itself. */
export const failAbandonedHandoffs = async (tx: Writing): Promise<readonly string[]> => {
  const rows = await tx.q.selectFrom('handoffs').select('session_id').where('state', '=', 'running').where('lease_until', '<', tx.now).where('moved', 'is', null).execute();
  for (const row of rows) await failHandoff(tx, row.session_id, 'the gateway ended while it moved the conversation', ['running']);
  return rows.map((row) => row.session_id);
};

/** A handoff that was abandoned once the conversation had moved, with the move as it was noted. */
export interface AbandonedMove<Moved> {
  readonly handoff: PendingHandoff;
  readonly moved: Moved;
}

export const listAbandonedMoves = async <Moved>(db: Reading): Promise<readonly AbandonedMove<Moved>[]> => {
  const rows = await db.q.selectFrom('handoffs').select(['session_id', 'destination', 'origin', 'moved', waited(db)]).where('state', '=', 'running').where('lease_until', '<', db.now).where('moved', 'is not', null).execute();
  return rows.map((row) => ({ handoff: toPending(row), moved: JSON.parse(row.moved ?? 'null') as Moved }));
};

/** True for exactly one of those who try to go on with what was abandoned. */
export const takeOverHandoff = async (tx: Writing, sessionId: string, claim: { owner: string; leaseMs: number }): Promise<boolean> => {
  const result = await tx.q
    .updateTable('handoffs')
    .set({ owner: claim.owner, lease_until: inMs(tx, claim.leaseMs) })
    .where('session_id', '=', sessionId)
    .where('state', '=', 'running')
    .where('lease_until', '<', tx.now)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
};
