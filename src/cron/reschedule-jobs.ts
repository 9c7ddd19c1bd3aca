import { listJobs, lockJob, setJobState } from '../store/cron/cron-jobs.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import type { Writing } from '../store/store.ts';
import { nextSlot } from './slots.ts';

/** What has run already does not run again: its slot is taken. */
const nextAfter = (job: CronJob, backMs: number, nowMs: number): number | null => {
  if (job.nextAtMs === null) return null;
  switch (job.schedule.kind) {
    case 'once':
      return job.nextAtMs;
    case 'interval':
      return job.nextAtMs - backMs;
    case 'cron':
      return nextSlot(job.schedule, { lastMs: null, nowMs, zone: job.zone });
    default:
      throw job.schedule satisfies never;
  }
};

/** After the clock was set back: rhythms go on without a gap, appointments are those of the new time, and a single run keeps the moment it was asked for. `slackMs`: how long ago that may have been. */
export const rescheduleJobs = async (tx: Writing, { backMs, slackMs }: { readonly backMs: number; readonly slackMs: number }): Promise<void> => {
  for (const { id } of await listJobs(tx, { completed: false })) {
    const locked = await lockJob(tx, id);
    if (locked === undefined) continue;
    const { job, nowMs } = locked;
    // What is nearer was made since.
    if (job.state !== 'scheduled' || job.nextAtMs === null || job.nextAtMs <= nowMs + backMs - slackMs) continue;
    await setJobState(tx, id, { state: 'scheduled', nextAtMs: nextAfter(job, backMs, nowMs) });
  }
};
