import type { CronJob, MissedPolicy } from '../store/cron/cron-jobs.ts';
import type { CronRunCause } from '../store/schema/reach-rows.ts';
import { countedMost, dueSlots, graceMs } from './slots.ts';

export interface PlannedRuns {
  /** Slots that get a run, oldest first. */
  readonly runs: readonly number[];
  readonly cause: Extract<CronRunCause, 'schedule' | 'catch_up'>;
  /** How many earlier slots get none: `3`, or `100 or more`. */
  readonly missed: string | undefined;
  /** By the schedule alone, however many runs the job is still to have. */
  readonly nextMs: number | null;
}

/** How many of the missed slots may run, each by itself. */
export const mostCaughtUp = countedMost;

/** Undefined for what is no policy. */
export const readMissedPolicy = (text: string): MissedPolicy | undefined => {
  if (text === 'once' || text === 'skip') return text;
  const count = Number(/^all\((\d{1,3})\)$/.exec(text)?.[1] ?? 0);
  return count >= 1 && count <= mostCaughtUp ? `all(${count})` : undefined;
};

const allowed = (missed: MissedPolicy): number => (missed === 'once' || missed === 'skip' ? 1 : Number(missed.slice('all('.length, -1)));

/** What a job that is due does now, by its policy for what was missed. */
export const planRuns = (job: Pick<CronJob, 'schedule' | 'zone' | 'missed' | 'times' | 'fired'>, due: { firstMs: number; nowMs: number }): PlannedRuns => {
  const { schedule, zone, missed } = job;
  const slots = dueSlots(schedule, { ...due, zone, most: allowed(missed) });
  const newestMs = slots.newest.at(-1) ?? due.firstMs;
  const isLate = due.nowMs - newestMs > graceMs(schedule, zone, newestMs);
  const left = job.times === null ? Infinity : job.times - job.fired;
  const skipped = missed === 'skip' && isLate;
  const runs = skipped ? [] : slots.newest.slice(0, left);
  const lost = slots.count - (skipped ? 0 : slots.newest.length);
  return {
    runs,
    cause: slots.count > 1 || isLate ? 'catch_up' : 'schedule',
    missed: lost === 0 ? undefined : slots.count >= countedMost ? `${countedMost} or more` : String(lost),
    nextMs: slots.nextMs,
  };
};
