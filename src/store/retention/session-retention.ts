import { laneFacts, lockLane, turnLane } from '../lanes/lanes.ts';
import { countWaiting } from '../messages/inbox.ts';
import { eraseSession, shortenSession } from '../sessions/erase-session.ts';
import { bindingsOf, findSession, lockSessionKey } from '../sessions/sessions.ts';
import type { Reading, Store, Writing } from '../store.ts';

/** Conversations in which nobody has spoken since. */
export interface StaleScope {
  readonly beforeMs: number;
  readonly agent?: string | undefined;
  readonly account?: string | undefined;
}

export interface StaleSession {
  readonly id: string;
  readonly activeAtMs: number;
}

/** The longest silent ones first, behind the one that is named. */
export const staleSessions = async (db: Reading, scope: StaleScope, page: { readonly after?: StaleSession | undefined; readonly limit: number }): Promise<readonly StaleSession[]> => {
  const { agent, account } = scope;
  const { after } = page;
  let query = db.q.selectFrom('sessions').select(['id', 'active_at']).where('active_at', '<', scope.beforeMs);
  if (agent !== undefined) query = query.where('agent', '=', agent);
  if (account !== undefined) query = query.where('account', '=', account);
  if (after !== undefined) query = query.where((eb) => eb.or([eb('active_at', '>', after.activeAtMs), eb.and([eb('active_at', '=', after.activeAtMs), eb('id', '>', after.id)])]));
  const rows = await query.orderBy('active_at').orderBy('id').limit(page.limit).execute();
  return rows.map((row) => ({ id: row.id, activeAtMs: row.active_at }));
};

/** Everything that was said in it, what was undone or summarised included. */
export const countSaid = async (db: Reading, sessionId: string): Promise<number> => {
  const row = await db.q.selectFrom('messages').select((eb) => eb.fn.countAll<number>().as('count')).where('session_id', '=', sessionId).executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** Why a conversation must not be taken away now. */
export type AtWork = 'running' | 'waiting' | 'moving' | 'process';

export const workOf = async (db: Reading, sessionId: string): Promise<AtWork | undefined> => {
  const lane = turnLane(sessionId);
  if ((await laneFacts(db, lane)).running) return 'running';
  const hasWork = await db.q.selectFrom('lanes').select('lane').where('lane', '=', lane).where('has_work', '=', 1).executeTakeFirst();
  if (hasWork !== undefined || (await countWaiting(db, lane)) > 0) return 'waiting';
  const moving = await db.q.selectFrom('handoffs').select('session_id').where('session_id', '=', sessionId).where('state', 'in', ['pending', 'running']).executeTakeFirst();
  if (moving !== undefined) return 'moving';
  const process = await db.q.selectFrom('processes').select('id').where('session_id', '=', sessionId).where('state', 'in', ['starting', 'running']).executeTakeFirst();
  return process === undefined ? undefined : 'process';
};

export type SessionRemoval =
  | { readonly type: 'removed'; readonly messages: number; /** Programs that it had started. */ readonly processIds: readonly string[] }
  | { readonly type: 'at_work'; readonly why: AtWork }
  /** Somebody has spoken since, or it is gone already. */
  | { readonly type: 'not_stale' };

/** Small enough that nobody waits noticeably for a step to end. */
const stepMessages = 500;

/** A number when there is more: so much of what was said has gone. */
const removeStep = async (tx: Writing, sessionId: string, at: { readonly beforeMs?: number | undefined; readonly sofar: number }): Promise<SessionRemoval | number> => {
  const keys = (await bindingsOf(tx, sessionId)).map(({ sessionKey }) => sessionKey);
  for (const key of keys.toSorted()) await lockSessionKey(tx, key);
  await lockLane(tx, { lane: turnLane(sessionId), kind: 'turn' });
  const session = await findSession(tx, sessionId);
  if (session === undefined || (at.beforeMs !== undefined && session.activeAtMs >= at.beforeMs)) return { type: 'not_stale' };
  const why = await workOf(tx, sessionId);
  if (why !== undefined) return { type: 'at_work', why };
  const messages = await shortenSession(tx, sessionId, stepMessages);
  if (messages === stepMessages) return messages;
  const processes = await tx.q.selectFrom('processes').select('id').where('session_id', '=', sessionId).execute();
  await eraseSession(tx, sessionId);
  return { type: 'removed', messages: at.sofar + messages, processIds: processes.map(({ id }) => id) };
};

/** Takes a conversation out of the store with everything that belongs to it, in small steps; none in which something is under way. With `beforeMs` only while nobody has spoken since. */
export const removeSession = async (store: Store, sessionId: string, beforeMs?: number): Promise<SessionRemoval> => {
  for (let sofar = 0; ; ) {
    const step = await store.write((tx) => removeStep(tx, sessionId, { beforeMs, sofar }));
    if (typeof step !== 'number') return step;
    sofar += step;
  }
};
