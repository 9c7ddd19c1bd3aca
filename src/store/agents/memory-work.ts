import { sql } from 'kysely';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** Something that a memory provider has to be told, in order within its conversation. */
export interface MemoryWork {
  readonly id: number;
  readonly key: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly kind: string;
  /** Plain JSON. */
  readonly payload: unknown;
  /** How often it was taken up, this time included. */
  readonly attempts: number;
  readonly ageMs: number;
}

export type NewMemoryWork = Pick<MemoryWork, 'key' | 'agent' | 'sessionId' | 'kind' | 'payload'>;

/** Queues it once, whatever happens to the caller; answers how many older ones had to go because more than `most` of the agent were waiting. */
export const enqueueMemoryWork = async (tx: Writing, work: NewMemoryWork, most: number): Promise<number> => {
  await tx.q
    .insertInto('memory_work')
    .values({ key: work.key, agent: work.agent, session_id: work.sessionId, kind: work.kind, payload: JSON.stringify(work.payload), ready_at: tx.now, owner: null, error: null, created_at: tx.now })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  const excess = await tx.q.selectFrom('memory_work').select('id').where('agent', '=', work.agent).orderBy('id', 'desc').offset(most).limit(1).executeTakeFirst();
  if (excess === undefined) return 0;
  const dropped = await tx.q.deleteFrom('memory_work').where('agent', '=', work.agent).where('id', '<=', excess.id).executeTakeFirst();
  return Number(dropped.numDeletedRows);
};

/** The next thing to tell, for nobody else until the lease ends. Within a conversation nothing overtakes what came before it. */
export const claimMemoryWork = async (tx: Writing, claim: { readonly agent: string; readonly owner: string; readonly leaseMs: number }): Promise<MemoryWork | undefined> => {
  // Two that look at the same moment would both see the row free.
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`memory:${claim.agent}`}))`.execute(tx.q);
  const next = await tx.q
    .selectFrom('memory_work as work')
    .select(['id', 'key', 'agent', 'session_id', 'kind', 'payload', 'attempts', sql<number>`${tx.now} - created_at`.as('age')])
    .where('agent', '=', claim.agent)
    .where('ready_at', '<=', tx.now)
    .where('lease_until', '<=', tx.now)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('memory_work as earlier').select('earlier.id').whereRef('earlier.session_id', '=', 'work.session_id').whereRef('earlier.id', '<', 'work.id'))))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (next === undefined) return undefined;
  await tx.q
    .updateTable('memory_work')
    .set((eb) => ({ owner: claim.owner, lease_until: inMs(tx, claim.leaseMs), attempts: eb('attempts', '+', 1) }))
    .where('id', '=', next.id)
    .execute();
  return { id: next.id, key: next.key, agent: next.agent, sessionId: next.session_id, kind: next.kind, payload: JSON.parse(next.payload) as unknown, attempts: next.attempts + 1, ageMs: Number(next.age) };
};

/** It was told, or never can be. */
export const finishMemoryWork = async (tx: Writing, id: number): Promise<void> => {
  await tx.q.deleteFrom('memory_work').where('id', '=', id).execute();
};

/** Puts it back, to be taken up again after a while. */
export const postponeMemoryWork = async (tx: Writing, id: number, later: { readonly delayMs: number; readonly error: string | null }): Promise<void> => {
  await tx.q.updateTable('memory_work').set({ owner: null, lease_until: 0, ready_at: inMs(tx, later.delayMs), error: later.error }).where('id', '=', id).execute();
};

/** Gives back what an owner had taken up and did not get to. */
export const releaseMemoryWork = async (tx: Writing, owner: string): Promise<void> => {
  await tx.q
    .updateTable('memory_work')
    .set((eb) => ({ owner: null, lease_until: 0, attempts: eb('attempts', '-', 1) }))
    .where('owner', '=', owner)
    .execute();
};

export const countMemoryWork = async (db: Reading, agent: string): Promise<number> => {
  const row = await db.q.selectFrom('memory_work').select((eb) => eb.fn.countAll<number>().as('count')).where('agent', '=', agent).executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** Nothing of what waits is ever told: the agent has no provider any more. */
export const clearMemoryWork = async (tx: Writing, agent: string): Promise<number> => {
  const result = await tx.q.deleteFrom('memory_work').where('agent', '=', agent).executeTakeFirst();
  return Number(result.numDeletedRows);
};
