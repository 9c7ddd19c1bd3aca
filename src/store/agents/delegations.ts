import type { Usage } from '../../core/transcript.ts';
import type { DelegationRow, DelegationState } from '../schema/agent-rows.ts';
import { inMs } from '../store.ts';
import type { Reading, Writing } from '../store.ts';

/** Work that a conversation has handed away and that outlives the turn which did. */
export interface Delegation {
  readonly id: string;
  readonly sessionId: string;
  readonly state: DelegationState;
  /** What was asked for, in the words of whoever asked. */
  readonly request: unknown;
  readonly result: unknown;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}

export interface NewDelegation {
  readonly id: string;
  readonly sessionId: string;
  readonly request: unknown;
  /** The node that does it; none when it is a conversation of its own. */
  readonly owner?: string;
}

/** Before it begins, so that whatever happens to the process, somebody will tell what became of it. */
export const keepDelegation = async (tx: Writing, fresh: NewDelegation): Promise<void> => {
  const { id, sessionId, request, owner } = fresh;
  await tx.q
    .insertInto('delegations')
    .values({ id, session_id: sessionId, owner: owner ?? null, state: owner === undefined ? 'apart' : 'running', request: JSON.stringify(request), result: null, created_at: tx.now, ended_at: null })
    .execute();
};

/** False when its end is known already: whoever gets true tells about it. */
export const endDelegation = async (tx: Writing, id: string, end: { readonly state: 'done' | 'lost'; readonly result?: unknown }): Promise<boolean> => {
  const result = end.result === undefined ? null : JSON.stringify(end.result);
  const done = await tx.q.updateTable('delegations').set({ state: end.state, result, ended_at: tx.now }).where('id', '=', id).where('state', '=', 'running').executeTakeFirst();
  return done.numUpdatedRows === 1n;
};

const toDelegation = (row: Pick<DelegationRow, 'session_id' | 'state' | 'request' | 'result' | 'created_at' | 'ended_at'> & { readonly id: string }): Delegation => ({
  id: row.id,
  sessionId: row.session_id,
  state: row.state,
  request: JSON.parse(row.request) as unknown,
  result: row.result === null ? undefined : (JSON.parse(row.result) as unknown),
  createdAtMs: row.created_at,
  endedAtMs: row.ended_at,
});

const columns = ['delegations.id', 'delegations.session_id', 'delegations.state', 'delegations.request', 'delegations.result', 'delegations.created_at', 'delegations.ended_at'] as const;

/** Those of one conversation, the newest first. */
export const delegationsOf = async (db: Reading, sessionId: string, limit: number): Promise<Delegation[]> => {
  const rows = await db.q.selectFrom('delegations').select(columns).where('session_id', '=', sessionId).orderBy('created_at', 'desc').orderBy('id').limit(limit).execute();
  return rows.map(toDelegation);
};

/** What nodes were doing that are gone, or have been silent for so long. */
export const abandonedDelegations = async (db: Reading, silentMs: number): Promise<Delegation[]> => {
  const rows = await db.q
    .selectFrom('delegations')
    .leftJoin('nodes', 'nodes.id', 'delegations.owner')
    .select(columns)
    .where('delegations.state', '=', 'running')
    .where((eb) => eb.or([eb('nodes.id', 'is', null), eb('nodes.seen_at', '<', inMs(db, -silentMs))]))
    .orderBy('delegations.created_at')
    .execute();
  return rows.map(toDelegation);
};

export const runningDelegations = async (db: Reading, sessionId: string): Promise<number> => {
  const rows = await db.q.selectFrom('delegations').select((eb) => eb.fn.countAll<number>().as('count')).where('session_id', '=', sessionId).where('state', '=', 'running').executeTakeFirstOrThrow();
  return Number(rows.count);
};

/** The payload of the `stop` channel that is meant for a delegation and not for a lane. */
export const stopName = (id: string): string => `delegation:${id}`;

/** Asks whoever does it to end it. False when it does not run. */
export const requestDelegationStop = async (tx: Writing, id: string): Promise<boolean> => {
  const asked = await tx.q.updateTable('delegations').set({ stop: 1 }).where('id', '=', id).where('state', '=', 'running').executeTakeFirst();
  if (asked.numUpdatedRows !== 1n) return false;
  tx.notify('stop', stopName(id));
  return true;
};

/** Those of a node that somebody wants to end. */
export const stoppedDelegations = async (db: Reading, owner: string): Promise<string[]> => {
  const rows = await db.q.selectFrom('delegations').select('id').where('state', '=', 'running').where('owner', '=', owner).where('stop', '=', 1).execute();
  return rows.map(({ id }) => id);
};

/** Forgets what ended, or began apart, so long ago. */
export const forgetDelegations = async (tx: Writing, olderMs: number): Promise<void> => {
  await tx.q.deleteFrom('delegations').where('state', 'in', ['done', 'lost']).where('ended_at', '<', inMs(tx, -olderMs)).execute();
  await tx.q.deleteFrom('delegations').where('state', '=', 'apart').where('created_at', '<', inMs(tx, -olderMs)).execute();
};

/** What helpers used is part of what the conversation used. */
export const addSpent = async (tx: Writing, sessionId: string, usage: Usage): Promise<void> => {
  await tx.q
    .updateTable('sessions')
    .set((eb) => ({
      input_tokens: eb('input_tokens', '+', usage.inputTokens),
      output_tokens: eb('output_tokens', '+', usage.outputTokens),
      cache_read_tokens: eb('cache_read_tokens', '+', usage.cacheReadTokens),
      cache_write_tokens: eb('cache_write_tokens', '+', usage.cacheWriteTokens),
      reasoning_tokens: eb('reasoning_tokens', '+', usage.reasoningTokens),
    }))
    .where('id', '=', sessionId)
    .execute();
};
