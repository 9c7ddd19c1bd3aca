import { lockLane, requestStop, turnLane } from '../lanes/lanes.ts';
import type { Tables } from '../schema.ts';
import type { Writing } from '../store.ts';
import { deleteSessions } from './delete-sessions.ts';
import { unindexMessages } from './search.ts';

/** Tables whose rows belong to a conversation and go with it, beside those that `deleteSessions` knows. One that neither names is a mistake, which a test finds. */
const tablesOfSession = ['bindings', 'questions', 'memory_work', 'memory_proposals', 'session_ends', 'processes', 'speech_work', 'title_work', 'handoffs', 'place_claims', 'delegations', 'turns', 'inbox'] as const satisfies readonly (keyof Tables)[];

const pageSize = 200;

/** In pieces that fit into one statement. */
export const pagesOf = <T>(list: readonly T[]): T[][] => Array.from({ length: Math.ceil(list.length / pageSize) }, (_, i) => list.slice(i * pageSize, (i + 1) * pageSize));

/** All of a conversation. A turn that runs in it cannot write any more: its lane is gone. */
export const eraseSession = async (tx: Writing, sessionId: string): Promise<{ readonly messages: number }> => {
  // Whoever is about to put something into the conversation sees it gone.
  await lockLane(tx, { lane: turnLane(sessionId), kind: 'turn' });
  await requestStop(tx, turnLane(sessionId));
  await tx.q.deleteFrom('lanes').where('lane', '=', turnLane(sessionId)).execute();
  const turns = await tx.q.selectFrom('turns').select('id').where('session_id', '=', sessionId).execute();
  for (const page of pagesOf(turns.map(({ id }) => id))) await tx.q.deleteFrom('outbox').where('turn_id', 'in', page).execute();
  const arrivals = await tx.q.selectFrom('inbox').select('id').where('session_id', '=', sessionId).execute();
  for (const page of pagesOf(arrivals.map(({ id }) => id))) await tx.q.deleteFrom('outbox').where('inbox_id', 'in', page).execute();
  const calls = await tx.q.deleteFrom('api_calls').where('session_id', '=', sessionId).returning('id').execute();
  for (const page of pagesOf(calls.map(({ id }) => id))) await tx.q.deleteFrom('api_run_events').where('run_id', 'in', page).execute();
  for (const table of tablesOfSession) await tx.q.deleteFrom(table).where('session_id', '=', sessionId).execute();
  await tx.q.updateTable('cron_runs').set({ session_id: null, output: null, result: null, note: null }).where('session_id', '=', sessionId).execute();
  const said = await tx.q.selectFrom('messages').select((eb) => eb.fn.countAll<number>().as('count')).where('session_id', '=', sessionId).executeTakeFirst();
  await tx.q.updateTable('sessions').set({ parent_id: null }).where('parent_id', '=', sessionId).execute();
  await deleteSessions(tx, [sessionId]);
  return { messages: Number(said?.count ?? 0) };
};

/** Takes the oldest of what was said in a conversation out of it, so that a long one goes in small steps. Answers how much that was. */
export const shortenSession = async (tx: Writing, sessionId: string, most: number): Promise<number> => {
  const rows = await tx.q.selectFrom('messages').select('id').where('session_id', '=', sessionId).orderBy('id').limit(most).execute();
  const ids = rows.map(({ id }) => id);
  await unindexMessages(tx, ids);
  for (const page of pagesOf(ids)) await tx.q.deleteFrom('messages').where('id', 'in', page).execute();
  return ids.length;
};
