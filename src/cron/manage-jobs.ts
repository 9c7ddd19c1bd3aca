import { randomBytes } from 'node:crypto';
import { changeJob, countJobs, findJob, insertJob, isMadeBy, listJobs, lockJob, setJobState, settingsOf } from '../store/cron/cron-jobs.ts';
import type { CronJob, JobOrigin, JobSettings } from '../store/cron/cron-jobs.ts';
import { endRun, insertRun, openRuns } from '../store/cron/cron-runs.ts';
import { requestStop, turnLane } from '../store/lanes/lanes.ts';
import { withdrawWaiting } from '../store/messages/inbox.ts';
import { requestTurnStop } from '../store/sessions/turns.ts';
import { databaseNow } from '../store/store.ts';
import type { Reading, Writing } from '../store/store.ts';
import { JobRefused, settingsFor } from './job-request.ts';
import type { JobRequest, JobRules } from './job-request.ts';
import { nextSlot } from './slots.ts';

/** Whose jobs somebody may see and change: those of one agent or of all, all of them or only their own. */
export interface JobSight {
  readonly agent?: string | undefined;
  readonly madeBy?: { readonly account: string; readonly userId: string } | undefined;
}

const mostNamed = 5;

const isInSight = (job: CronJob, { agent, madeBy }: JobSight): boolean => (agent === undefined || job.agent === agent) && (madeBy === undefined || isMadeBy(job, madeBy));

/** The job that an id or a name means. Throws `JobRefused` when there is none, or several. */
export const jobCalled = async (db: Reading, ref: string, sight: JobSight): Promise<CronJob> => {
  const name = ref.trim();
  const byId = await findJob(db, name);
  if (byId !== undefined && isInSight(byId, sight)) return byId;
  const all = await listJobs(db, { completed: true, ...(sight.agent !== undefined && { agent: sight.agent }), ...(sight.madeBy !== undefined && { madeBy: sight.madeBy }) });
  const named = all.filter((job) => job.name.toLowerCase() === name.toLowerCase());
  const found = named.length > 0 || name.length < 4 ? named : all.filter((job) => job.id.startsWith(name.toLowerCase()));
  const [job, ...others] = found;
  if (job === undefined) throw new JobRefused(`There is no job ${JSON.stringify(name.slice(0, 60))}.`);
  if (others.length > 0) throw new JobRefused(`${JSON.stringify(name.slice(0, 60))} could be ${found.slice(0, mostNamed).map(({ id }) => id).join(', ')}${found.length > mostNamed ? ', …' : ''}; name one by its id.`);
  return job;
};

/** When a job that is scheduled anew is due. Throws `JobRefused` for a time that has passed. */
const firstSlot = ({ schedule, zone }: Pick<JobSettings, 'schedule' | 'zone'>, nowMs: number): number => {
  const next = nextSlot(schedule, { lastMs: null, nowMs, zone });
  if (next === null) throw new JobRefused('That time has passed. Give the job a new one.');
  return next;
};

const contextIds = async (db: Reading, request: JobRequest, sight: JobSight): Promise<JobRequest> => {
  if (request.contextFrom === undefined) return request;
  const ids: string[] = [];
  for (const ref of request.contextFrom) ids.push((await jobCalled(db, ref, sight)).id);
  return { ...request, contextFrom: ids };
};

const again = async (db: Reading, id: string): Promise<CronJob> => {
  const job = await findJob(db, id);
  if (job === undefined) throw new JobRefused(`The job ${id} has been removed.`);
  return job;
};

export interface NewJobRequest {
  readonly agent: string;
  readonly request: JobRequest;
  readonly origin?: JobOrigin | undefined;
  /** Whose jobs it may read results of: those of its agent that whoever asks for it may see; all of its agent when left out. */
  readonly sight?: JobSight;
}

export const createJob = async (tx: Writing, rules: JobRules, wanted: NewJobRequest): Promise<CronJob> => {
  const { agent, origin } = wanted;
  const nowMs = await databaseNow(tx);
  const request = await contextIds(tx, wanted.request, { ...wanted.sight, agent });
  const settings = await settingsFor(tx, rules, { agent, request, origin, nowMs });
  const { max_jobs } = rules.options();
  if ((await countJobs(tx, agent)) >= max_jobs) throw new JobRefused(`The agent ${agent} has ${max_jobs} jobs already, and \`cron.max_jobs\` allows no more. Remove some first.`);
  const id = randomBytes(6).toString('hex');
  await insertJob(tx, { id, agent, settings, nextAtMs: firstSlot(settings, nowMs), ...(origin !== undefined && { origin }) });
  return again(tx, id);
};

/** Changes what is named. A new schedule, zone or number of times begins to count anew. */
export const changeJobAsAsked = async (tx: Writing, rules: JobRules, wanted: { readonly id: string } & Pick<NewJobRequest, 'request' | 'sight'>): Promise<CronJob> => {
  const locked = await lockJob(tx, wanted.id);
  if (locked === undefined) throw new JobRefused(`The job ${wanted.id} has been removed.`);
  const { job, nowMs } = locked;
  const request = await contextIds(tx, wanted.request, { ...wanted.sight, agent: job.agent });
  const settings = await settingsFor(tx, rules, { agent: job.agent, request, origin: job.origin ?? undefined, before: settingsOf(job), nowMs });
  const isNew = [request.schedule, request.zone, request.times].some((field) => field !== undefined);
  const state = job.state === 'completed' && isNew ? 'scheduled' : job.state;
  const nextAtMs = isNew ? (state === 'scheduled' ? firstSlot(settings, nowMs) : null) : job.nextAtMs;
  await changeJob(tx, job.id, { settings, nextAtMs, state, fired: isNew ? 0 : job.fired });
  return again(tx, job.id);
};

/** Nothing of the job begins until it is resumed; what runs goes on, what has waited for that does not take place. */
export const pauseJob = async (tx: Writing, id: string, reason?: string): Promise<CronJob> => {
  const locked = await lockJob(tx, id);
  if (locked === undefined || locked.job.state === 'completed') throw new JobRefused(locked === undefined ? `The job ${id} has been removed.` : 'The job has had all its runs.');
  await setJobState(tx, id, { state: 'paused', nextAtMs: null, ...(reason !== undefined && { pausedReason: reason.slice(0, 200).toWellFormed() }) });
  for (const run of await openRuns(tx, id)) if (run.state === 'waiting') await endRun(tx, run.id, { state: 'skipped', error: 'the job was paused', deliveries: [] });
  return again(tx, id);
};

/** It is due again at its next time from now on; what would have been due meanwhile was not missed. */
export const resumeJob = async (tx: Writing, id: string): Promise<CronJob> => {
  const locked = await lockJob(tx, id);
  if (locked === undefined) throw new JobRefused(`The job ${id} has been removed.`);
  const { job, nowMs } = locked;
  if (job.state !== 'paused') throw new JobRefused('The job is not paused.');
  await setJobState(tx, id, { state: 'scheduled', nextAtMs: firstSlot(job, nowMs) });
  return again(tx, id);
};

/** Runs a job now, beside its schedule. `key` names what asks for it: the same again is the same run. */
export const runJobNow = async (tx: Writing, id: string, key: string): Promise<void> => {
  const locked = await lockJob(tx, id);
  if (locked === undefined) throw new JobRefused(`The job ${id} has been removed.`);
  const { job, nowMs } = locked;
  const slot = `run:${key}`;
  const open = await openRuns(tx, id);
  if (open.some((run) => run.slot === slot)) return;
  if (open.length > 0 && job.overlap === 'skip') throw new JobRefused('The job is running already.');
  await insertRun(tx, { jobId: id, agent: job.agent, slot, dueAtMs: nowMs, cause: 'manual', state: open.length > 0 && job.overlap === 'queue' ? 'waiting' : 'ready' });
};

/** Ends what runs of a job, and what has waited for that. Answers how many runs. */
export const stopJob = async (tx: Writing, id: string): Promise<number> => {
  const runs = await openRuns(tx, id);
  // Those that wait first, so that none of them begins because another ends.
  for (const run of runs.toSorted((a, b) => Number(b.state === 'waiting') - Number(a.state === 'waiting'))) {
    const lane = run.sessionId === null ? undefined : turnLane(run.sessionId);
    const isAnswering = lane !== undefined && run.result === null && (await withdrawWaiting(tx, lane, 'the job was stopped')).length === 0;
    if (!isAnswering) await endRun(tx, run.id, { state: 'stopped', error: 'somebody stopped it', deliveries: [] });
    else {
      await requestTurnStop(tx, lane);
      await requestStop(tx, lane);
    }
  }
  return runs.length;
};

/** The job is gone for good, and what runs of it ends. Its history stays for as long as runs are kept. */
export const removeJob = async (tx: Writing, id: string): Promise<void> => {
  if ((await lockJob(tx, id)) === undefined) throw new JobRefused(`The job ${id} has been removed.`);
  await stopJob(tx, id);
  await setJobState(tx, id, { state: 'removed', nextAtMs: null });
};
