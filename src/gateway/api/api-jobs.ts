import { auditedJob, jobSummary, viewJobs } from '../../cron/describe-job.ts';
import { deliverText, JobRefused } from '../../cron/job-request.ts';
import type { JobRequest, JobRules } from '../../cron/job-request.ts';
import { changeJobAsAsked, createJob, pauseJob, removeJob, resumeJob, runJobNow } from '../../cron/manage-jobs.ts';
import type { JobSight } from '../../cron/manage-jobs.ts';
import { resolveTarget } from '../../delivery/resolve-target.ts';
import type { AuditedAct } from '../../lib/audit-log.ts';
import { findJob, isMadeBy, listJobs } from '../../store/cron/cron-jobs.ts';
import type { CronJob, JobOrigin } from '../../store/cron/cron-jobs.ts';
import type { Reading, Store, Writing } from '../../store/store.ts';
import { apiAccount } from './place.ts';

/** Who asks: a key sees the jobs that it has made, or all. */
export interface JobCaller {
  readonly id: string;
  readonly seesAll: boolean;
}

/** Why nothing came of it, in words. `not_allowed`: results would go to a chat that nobody here knows. */
export interface JobProblem {
  readonly type: 'not_found' | 'refused' | 'not_allowed';
  readonly sentence: string;
}

export type JobResult<T> = { readonly type: 'done'; readonly value: T } | JobProblem;

export type JobSummary = ReturnType<typeof jobSummary>;

/** What a key can do with jobs: the same as people do with them in chats and on the command line, by the same rules. */
export interface ApiJobs {
  list(caller: JobCaller, of: { readonly completed: boolean }): Promise<readonly JobSummary[]>;
  create(caller: JobCaller, job: { readonly agent: string; readonly request: JobRequest }): Promise<JobResult<JobSummary>>;
  find(caller: JobCaller, id: string): Promise<JobResult<JobSummary>>;
  change(caller: JobCaller, id: string, change: { readonly request: JobRequest; readonly enabled?: boolean | undefined }): Promise<JobResult<JobSummary>>;
  pause(caller: JobCaller, id: string): Promise<JobResult<JobSummary>>;
  resume(caller: JobCaller, id: string): Promise<JobResult<JobSummary>>;
  /** `key` names the wish: the same again is the same run. */
  run(caller: JobCaller, id: string, key: string): Promise<JobResult<JobSummary>>;
  remove(caller: JobCaller, id: string): Promise<JobResult<undefined>>;
}

class Refused extends Error {
  readonly type: JobProblem['type'];

  constructor(type: JobProblem['type'], sentence: string) {
    super(sentence);
    this.type = type;
  }
}

const originOf = ({ id }: JobCaller): JobOrigin => ({ target: { account: apiAccount, chatId: id, chatType: 'dm' }, userId: id });

/** A key that does not see all jobs sees those that it has made. */
const sightOf = ({ id, seesAll }: JobCaller): { readonly madeBy?: NonNullable<JobSight['madeBy']> } => (seesAll ? {} : { madeBy: { account: apiAccount, userId: id } });

const own = async (db: Reading, caller: JobCaller, id: string): Promise<CronJob> => {
  const job = await findJob(db, id);
  if (job === undefined || !(caller.seesAll || isMadeBy(job, { account: apiAccount, userId: caller.id }))) throw new Refused('not_found', 'There is no such job.');
  return job;
};

export const newApiJobs = ({ store, jobs: rules, audit }: { readonly store: Store; readonly jobs: JobRules; audit(act: AuditedAct): void }): ApiJobs => {
  const attempt = async <T>(work: () => Promise<T>): Promise<JobResult<T>> => {
    try {
      return { type: 'done', value: await work() };
    } catch (error) {
      if (error instanceof Refused) return { type: error.type, sentence: error.message };
      if (error instanceof JobRefused) return { type: 'refused', sentence: error.message };
      throw error;
    }
  };

  const summaryOf = async (db: Reading, job: CronJob): Promise<JobSummary> => {
    const [view] = await viewJobs(db, [job]);
    return jobSummary(view ?? { job, last: undefined });
  };

  /** A chat that nobody has written from or written down may belong to anybody. */
  const checkStrangers = async (db: Reading, caller: JobCaller, { deliver, failureDeliver }: JobRequest): Promise<void> => {
    if (caller.seesAll) return;
    for (const written of [deliver, failureDeliver]) {
      if (written === undefined) continue;
      const { destinations } = await resolveTarget(db, rules.targets, { text: deliverText(written) });
      if (destinations.some((to) => to.type === 'chat' && !to.known)) throw new Refused('not_allowed', 'This key may not have anything delivered to a chat that is not known here.');
    }
  };

  const note = (caller: JobCaller, act: string, job: CronJob): void => audit({ by: `${apiAccount}:${caller.id}`, act: `cron ${act}`, subject: auditedJob(job) });

  /** `change` answers undefined when the job is as it should be already. */
  const changing = (caller: JobCaller, at: { readonly id: string; readonly act: string }, change: (tx: Writing, job: CronJob) => Promise<CronJob | undefined>): Promise<JobResult<JobSummary>> =>
    attempt(async () => {
      const { changed, summary } = await store.write(async (tx) => {
        const job = await own(tx, caller, at.id);
        const changed = await change(tx, job);
        return { changed, summary: await summaryOf(tx, changed ?? job) };
      });
      if (changed !== undefined) note(caller, at.act, changed);
      return summary;
    });

  return {
    list: (caller, { completed }) =>
      store.read(async (db) => {
        const jobs = await listJobs(db, { completed, ...sightOf(caller) });
        return (await viewJobs(db, jobs)).map(jobSummary);
      }),
    create: (caller, { agent, request }) =>
      attempt(async () => {
        const { job, summary } = await store.write(async (tx) => {
          await checkStrangers(tx, caller, request);
          const job = await createJob(tx, rules, { agent, request, origin: originOf(caller), sight: sightOf(caller) });
          return { job, summary: await summaryOf(tx, job) };
        });
        note(caller, 'add', job);
        return summary;
      }),
    find: (caller, id) => attempt(() => store.read(async (db) => summaryOf(db, await own(db, caller, id)))),
    change(caller, id, { request, enabled }) {
      const isNew = Object.values(request).some((field) => field !== undefined);
      const act = isNew ? 'edit' : enabled === true ? 'resume' : 'pause';
      return changing(caller, { id, act }, async (tx, job) => {
        await checkStrangers(tx, caller, request);
        const changed = isNew ? await changeJobAsAsked(tx, rules, { id, request, sight: sightOf(caller) }) : undefined;
        if (enabled === undefined || enabled === ((changed ?? job).state !== 'paused')) return changed;
        return enabled ? resumeJob(tx, id) : pauseJob(tx, id);
      });
    },
    pause: (caller, id) => changing(caller, { id, act: 'pause' }, (tx) => pauseJob(tx, id)),
    resume: (caller, id) => changing(caller, { id, act: 'resume' }, (tx) => resumeJob(tx, id)),
    run: (caller, id, key) =>
      changing(caller, { id, act: 'run' }, async (tx, job) => {
        await runJobNow(tx, id, key);
        return job;
      }),
    remove: (caller, id) =>
      attempt(async () => {
        const job = await store.write(async (tx) => {
          const job = await own(tx, caller, id);
          await removeJob(tx, id);
          return job;
        });
        note(caller, 'remove', job);
        return undefined;
      }),
  };
};
