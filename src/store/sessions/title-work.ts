import { sql } from 'kysely';
import { inMs } from '../store.ts';
import type { Writing } from '../store.ts';

/** A conversation that is to get a title. */
export interface TitleWork {
  readonly sessionId: string;
  readonly agent: string;
  /** How often it was taken up, this time included. */
  readonly attempts: number;
}

/** Part of the transaction that commits an answer. A conversation waits once, however often this is called. */
export const planTitle = async (tx: Writing, { sessionId, agent }: Omit<TitleWork, 'attempts'>): Promise<void> => {
  await tx.q
    .insertInto('title_work')
    .values({ session_id: sessionId, agent, ready_at: tx.now, owner: null, created_at: tx.now })
    .onConflict((conflict) => conflict.column('session_id').doNothing())
    .execute();
  tx.notify('title', sessionId);
};

/** The conversation that has waited longest, for nobody else until the lease ends. */
export const claimTitle = async (tx: Writing, claim: { readonly owner: string; readonly leaseMs: number }): Promise<TitleWork | undefined> => {
  // Two that look at the same moment would both see the row free.
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext('title'))`.execute(tx.q);
  const next = await tx.q
    .selectFrom('title_work')
    .select(['session_id', 'agent', 'attempts'])
    .where('ready_at', '<=', tx.now)
    // Whoever is not among the nodes any more does nothing, whatever its lease says.
    .where((eb) => eb.or([eb('lease_until', '<=', tx.now), eb.not(eb.exists(eb.selectFrom('nodes').select('nodes.id').whereRef('nodes.id', '=', 'title_work.owner')))]))
    .orderBy('created_at')
    .orderBy('session_id')
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return undefined;
  await tx.q
    .updateTable('title_work')
    .set((eb) => ({ owner: claim.owner, lease_until: inMs(tx, claim.leaseMs), attempts: eb('attempts', '+', 1) }))
    .where('session_id', '=', next.session_id)
    .execute();
  return { sessionId: next.session_id, agent: next.agent, attempts: next.attempts + 1 };
};

/** True for the one who still holds it: only they may write the title, in this transaction. */
export const finishTitle = async (tx: Writing, held: { readonly sessionId: string; readonly owner: string }): Promise<boolean> => {
  const result = await tx.q.deleteFrom('title_work').where('session_id', '=', held.sessionId).where('owner', '=', held.owner).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

/** Puts it back, to be taken up again after a while. */
export const postponeTitle = async (tx: Writing, sessionId: string, delayMs: number): Promise<void> => {
  await tx.q.updateTable('title_work').set({ owner: null, lease_until: 0, ready_at: inMs(tx, delayMs) }).where('session_id', '=', sessionId).execute();
};

/** Gives back what an owner had taken up and did not get to. */
export const releaseTitles = async (tx: Writing, owner: string): Promise<void> => {
  await tx.q
    .updateTable('title_work')
    .set((eb) => ({ owner: null, lease_until: 0, attempts: eb('attempts', '-', 1) }))
    .where('owner', '=', owner)
    .execute();
};
