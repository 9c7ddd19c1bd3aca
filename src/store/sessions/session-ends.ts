import type { Writing } from '../store.ts';

/** A conversation that has ended and has not been looked after yet. */
export interface SessionEnd {
  readonly sessionId: string;
  readonly agent: string;
  readonly reason: string;
  readonly endedAtMs: number;
}

/** Part of every end, in its transaction: whoever looks after ends finds it later, also after a crash. */
export const noteSessionEnd = async (tx: Writing, end: SessionEnd): Promise<void> => {
  const values = { agent: end.agent, reason: end.reason, ended_at: end.endedAtMs };
  await tx.q
    .insertInto('session_ends')
    .values({ session_id: end.sessionId, ...values })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet(values))
    .execute();
};

/** The oldest end of the agent's, taken off the list: it is looked after at most once, whatever happens to whoever took it. */
export const takeSessionEnd = async (tx: Writing, agent: string): Promise<SessionEnd | undefined> => {
  const next = tx.q.selectFrom('session_ends').select('session_id').where('agent', '=', agent).orderBy('ended_at').limit(1);
  const row = await tx.q.deleteFrom('session_ends').where('session_id', '=', next).returningAll().executeTakeFirst();
  return row === undefined ? undefined : { sessionId: row.session_id, agent: row.agent, reason: row.reason, endedAtMs: row.ended_at };
};
