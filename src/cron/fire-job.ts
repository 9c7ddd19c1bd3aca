import { advanceJob, lockJob } from '../store/cron/cron-jobs.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import { insertRun, openRuns } from '../store/cron/cron-runs.ts';
import type { NewRun } from '../store/cron/cron-runs.ts';
import type { Writing } from '../store/store.ts';
import { planRuns } from './plan-runs.ts';
import type { PlannedRuns } from './plan-runs.ts';

/** Whether a further run begins now, waits for the one under way, or does not take place. */
const stateBeside = (job: CronJob, busy: boolean, catchingUp: boolean): Extract<NewRun['state'], 'ready' | 'waiting' | 'skipped'> => {
  if (!busy || job.overlap === 'parallel') return 'ready';
  // What runs only once, or was to be caught up one by one, is not lost because something else is under way.
  return job.overlap === 'queue' || job.schedule.kind === 'once' || catchingUp ? 'waiting' : 'skipped';
};

const noteOf = (job: CronJob, { missed }: PlannedRuns): string | undefined => (missed === undefined || job.missed !== 'once' ? undefined : `also stands for ${missed} earlier, missed while no gateway ran`);

const recordMissed = async (tx: Writing, job: CronJob, missed: { readonly count: string; readonly firstMs: number }): Promise<void> => {
  await insertRun(tx, { jobId: job.id, agent: job.agent, slot: String(missed.firstMs), dueAtMs: missed.firstMs, cause: 'schedule', state: 'missed', note: `${missed.count} missed while no gateway ran` });
};

/** Answers how many of them take place, now or later. */
const insertRuns = async (tx: Writing, job: CronJob, plan: PlannedRuns): Promise<number> => {
  const catchingUp = plan.runs.length > 1;
  const note = noteOf(job, plan);
  let busy = (await openRuns(tx, job.id)).length > 0;
  let fired = 0;
  for (const slotMs of plan.runs) {
    const state = stateBeside(job, busy, catchingUp);
    const id = await insertRun(tx, { jobId: job.id, agent: job.agent, slot: String(slotMs), dueAtMs: slotMs, cause: plan.cause, state, ...(note !== undefined && { note }) });
    if (id === undefined || state === 'skipped') continue;
    fired += 1;
    busy = true;
  }
  return fired;
};

/**
 * Begins the runs of a job that is due and says when it is due next, in one transaction: each slot once, whoever else tries. False when there was
 * nothing to do, or somebody else is at it.
 */
export const fireJob = async (tx: Writing, id: string): Promise<boolean> => {
  const locked = await lockJob(tx, id, { wait: false });
  if (locked === undefined) return false;
  const { job, nowMs } = locked;
  if (job.state !== 'scheduled' || job.nextAtMs === null || job.nextAtMs > nowMs) return false;
  const plan = planRuns(job, { firstMs: job.nextAtMs, nowMs });
  const fired = job.fired + (await insertRuns(tx, job, plan));
  if (plan.missed !== undefined && job.missed !== 'once') await recordMissed(tx, job, { count: plan.missed, firstMs: job.nextAtMs });
  const isOver = plan.nextMs === null || (job.times !== null && fired >= job.times);
  await advanceJob(tx, id, { nextAtMs: isOver ? null : plan.nextMs, fired, state: isOver ? 'completed' : 'scheduled' });
  return true;
};
