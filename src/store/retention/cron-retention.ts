import { cronAccount } from '../cron/cron-runs.ts';
import { deleteSessions } from '../sessions/delete-sessions.ts';
import { inMs } from '../store.ts';
import type { Writing } from '../store.ts';

/** Conversations that only jobs have had: nobody has taken them over into a chat. */
const sessionsOnlyOfJobs = async (tx: Writing, ids: readonly string[]): Promise<readonly string[]> => {
  if (ids.length === 0) return [];
  const rows = await tx.q
    .selectFrom('sessions')
    .select('id')
    .where('id', 'in', [...ids])
    .where('account', '=', cronAccount)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('bindings').select('session_id').whereRef('bindings.session_id', '=', 'sessions.id'))))
    .execute();
  return rows.map(({ id }) => id);
};

/** Deletes some of the runs that ended so long ago, with their conversations, and jobs that are over and have none left. Answers how many runs. */
export const pruneCron = async (tx: Writing, limits: { readonly keepDays: number; readonly batch: number }): Promise<number> => {
  const before = inMs(tx, -limits.keepDays * 86_400_000);
  const old = await tx.q.selectFrom('cron_runs').select(['id', 'session_id']).where('ended_at', 'is not', null).where('ended_at', '<', before).orderBy('ended_at').limit(limits.batch).execute();
  await deleteSessions(tx, await sessionsOnlyOfJobs(tx, old.flatMap(({ session_id }) => session_id ?? [])));
  if (old.length > 0) await tx.q.deleteFrom('cron_runs').where('id', 'in', old.map(({ id }) => id)).execute();
  await tx.q
    .deleteFrom('cron_jobs')
    .where('state', 'in', ['completed', 'removed'])
    .where('updated_at', '<', before)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('cron_runs').select('cron_runs.id').whereRef('cron_runs.job_id', '=', 'cron_jobs.id'))))
    .execute();
  return old.length;
};
