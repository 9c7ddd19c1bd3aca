import { JobRefused, settingsFor } from '../cron/job-request.ts';
import type { JobRequest, JobRules } from '../cron/job-request.ts';
import { nextSlot } from '../cron/slots.ts';
import { insertJob, isJobId, setJobState } from '../store/cron/cron-jobs.ts';
import type { JobOrigin, Schedule } from '../store/cron/cron-jobs.ts';
import { databaseNow } from '../store/store.ts';
import type { Writing } from '../store/store.ts';

export interface WantedJob {
  readonly id: string;
  readonly agent: string;
  readonly request: JobRequest;
  readonly origin: JobOrigin | undefined;
  /** When it was due next where it comes from. */
  readonly dueAtMs: number | undefined;
  /** It is made, and does not run before somebody says so. */
  readonly pausedReason?: string | undefined;
  readonly isPaused: boolean;
}

/** As it was planned elsewhere, if that is still to come; a rhythm goes on without a jump. */
const firstDue = (planned: number | null, { schedule, dueAtMs = 0, nowMs }: { readonly schedule: Schedule; readonly dueAtMs: number | undefined; readonly nowMs: number }): number | null =>
  schedule.kind === 'interval' && dueAtMs > nowMs && dueAtMs < (planned ?? Infinity) ? dueAtMs : planned;

/** Takes a scheduled job over under its id. Throws `JobRefused` for what this gateway would refuse from a person, and for what would never run again. */
export const importJob = async (tx: Writing, rules: JobRules, job: WantedJob): Promise<'known' | 'paused' | 'scheduled'> => {
  if (await isJobId(tx, job.id)) return 'known';
  const nowMs = await databaseNow(tx);
  const settings = await settingsFor(tx, rules, { agent: job.agent, request: job.request, origin: job.origin, nowMs });
  const { schedule, zone } = settings;
  const next = firstDue(nextSlot(schedule, { lastMs: null, nowMs, zone }), { schedule, dueAtMs: job.dueAtMs, nowMs });
  if (next === null) throw new JobRefused('its time has passed');
  await insertJob(tx, { id: job.id, agent: job.agent, settings, nextAtMs: next, ...(job.origin !== undefined && { origin: job.origin }) });
  if (!job.isPaused) return 'scheduled';
  await setJobState(tx, job.id, { state: 'paused', nextAtMs: null, ...(job.pausedReason !== undefined && { pausedReason: job.pausedReason }) });
  return 'paused';
};
