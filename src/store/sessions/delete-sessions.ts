import type { Writing } from '../store.ts';

/** Takes conversations out of the store with everything that was said in them. Nothing of them may be under way. */
export const deleteSessions = async (tx: Writing, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return;
  const said = tx.q.selectFrom('messages').select('id').where('session_id', 'in', [...ids]);
  await tx.q.deleteFrom('message_search').where('rowid', 'in', said).execute();
  for (const table of ['messages', 'prompts', 'compressions', 'compression_failures', 'grants', 'acp_sessions'] as const) await tx.q.deleteFrom(table).where('session_id', 'in', [...ids]).execute();
  await tx.q.deleteFrom('sessions').where('id', 'in', [...ids]).execute();
};

/** The same for a conversation of the API, with the calls that it answered. */
export const deleteApiSession = async (tx: Writing, id: string): Promise<void> => {
  const calls = tx.q.selectFrom('api_calls').select('id').where('session_id', '=', id);
  await tx.q.deleteFrom('api_run_events').where('run_id', 'in', calls).execute();
  for (const table of ['api_calls', 'bindings', 'inbox', 'session_ends', 'memory_work', 'title_work'] as const) await tx.q.deleteFrom(table).where('session_id', '=', id).execute();
  await deleteSessions(tx, [id]);
};
