import type { Selectable } from 'kysely';
import type { Target } from '../../core/message.ts';
import type { CronJobRow, CronJobState } from '../schema/reach-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** When a job is due. Times of day are meant in the job's zone. */
export type Schedule =
  | { readonly kind: 'once'; readonly atMs: number }
  | { readonly kind: 'interval'; readonly minutes: number }
  | { readonly kind: 'cron'; readonly expr: string };

/** What becomes of runs whose time passed while no gateway ran: one for all of them, none, or the newest n, each by itself. */
export type MissedPolicy = 'once' | 'skip' | `all(${number})`;

/** What becomes of a run that is due while an earlier one of the job is still under way. */
export type OverlapPolicy = 'skip' | 'queue' | 'parallel';

/** Where a job was made, and by whom. */
export interface JobOrigin {
  readonly target: Target;
  readonly userId?: string;
  readonly userName?: string;
}

/** What a job does, in the words of whoever made it. */
export interface JobDefinition {
  readonly prompt: string;
  /** The schedule as people read it. */
  readonly display: string;
  readonly skills: readonly string[];
  /** A file below the agent's `scripts` folder that runs first. */
  readonly script?: string;
  /** The script's output is the result; nobody is asked. */
  readonly noAgent?: true;
  /** Jobs whose last output is part of the question, by id. */
  readonly contextFrom?: readonly string[];
  readonly model?: string;
  readonly toolsets?: readonly string[];
  /** The folder that its script and its agent work in, absolute; their own when left out. */
  readonly workdir?: string;
  /** Targets as they were written, between commas. */
  readonly deliver: string;
  /** Where failures go instead. */
  readonly failureDeliver?: string;
  /** The result also becomes part of the conversation at the place it goes to. */
  readonly mirror?: true;
}

export interface CronJob extends JobDefinition {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly schedule: Schedule;
  readonly zone: string;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
  readonly state: CronJobState;
  readonly nextAtMs: number | null;
  readonly times: number | null;
  readonly fired: number;
  readonly failures: number;
  readonly origin: JobOrigin | null;
  readonly pausedReason: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What people set of a job. */
export type JobSettings = Pick<CronJob, 'name' | 'schedule' | 'zone' | 'missed' | 'overlap' | 'times'> & JobDefinition;

const toJob = (row: Selectable<CronJobRow>): CronJob => ({
  ...(JSON.parse(row.definition) as JobDefinition),
  id: row.id,
  agent: row.agent,
  name: row.name,
  schedule: JSON.parse(row.schedule) as Schedule,
  zone: row.zone,
  missed: row.missed as MissedPolicy,
  overlap: row.overlap as OverlapPolicy,
  state: row.state,
  nextAtMs: row.next_at,
  times: row.times,
  fired: row.fired,
  failures: row.failures,
  origin: row.origin === null ? null : (JSON.parse(row.origin) as JobOrigin),
  pausedReason: row.paused_reason,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});

const settingsColumns = (settings: JobSettings) => {
  const { name, schedule, zone, missed, overlap, times, ...definition } = settings;
  return { name, schedule: JSON.stringify(schedule), zone, missed, overlap, times, definition: JSON.stringify(definition) };
};

/** The settings of a job, without what happens to it. */
export const settingsOf = (job: CronJob): JobSettings => {
  const { id: _id, agent: _agent, state: _state, nextAtMs: _next, fired: _fired, failures: _failures, origin: _origin, pausedReason: _reason, createdAtMs: _created, updatedAtMs: _updated, ...settings } = job;
  return settings;
};

export interface NewJob {
  readonly id: string;
  readonly agent: string;
  readonly settings: JobSettings;
  readonly nextAtMs: number;
  readonly origin?: JobOrigin;
}

const changed = (tx: Writing, id: string): void => tx.notify('cron', `job:${id}`);

export const insertJob = async (tx: Writing, job: NewJob): Promise<void> => {
  await tx.q
    .insertInto('cron_jobs')
    .values({
      ...settingsColumns(job.settings),
      id: job.id,
      agent: job.agent,
      state: 'scheduled',
      next_at: job.nextAtMs,
      origin: job.origin === undefined ? null : JSON.stringify(job.origin),
      paused_reason: null,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .execute();
  changed(tx, job.id);
};

/** A job that was removed is as good as one that never was, but for its history. */
export const findJob = async (db: Reading, id: string): Promise<CronJob | undefined> => {
  const row = await db.q.selectFrom('cron_jobs').selectAll().where('id', '=', id).where('state', '!=', 'removed').executeTakeFirst();
  return row === undefined ? undefined : toJob(row);
};

/** Whether a job has or had this id. */
export const isJobId = async (db: Reading, id: string): Promise<boolean> => (await db.q.selectFrom('cron_jobs').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

export interface LockedJob {
  readonly job: CronJob;
  /** By the database's clock. */
  readonly nowMs: number;
}

/**
 * The job as it is now; until the end of the transaction nobody else changes it or begins a run of it. `wait: false` answers undefined where somebody
 * else is at it.
 */
export const lockJob = async (tx: Writing, id: string, { wait = true }: { readonly wait?: boolean } = {}): Promise<LockedJob | undefined> => {
  const query = tx.q.selectFrom('cron_jobs').selectAll().select(tx.now.as('now')).where('id', '=', id).where('state', '!=', 'removed');
  const locking = tx.engine === 'sqlite' ? query : wait ? query.forUpdate() : query.forUpdate().skipLocked();
  const row = await locking.executeTakeFirst();
  return row === undefined ? undefined : { job: toJob(row), nowMs: Number(row.now) };
};

export interface JobFilter {
  readonly agent?: string;
  /** Only jobs of this person. */
  readonly madeBy?: { readonly account: string; readonly userId: string };
  /** Also those that have had all their runs. */
  readonly completed: boolean;
  /** And those that were removed and are still kept with their runs. */
  readonly removed?: boolean;
}

/** Those that are due next come first, paused and completed ones last. */
export const listJobs = async (db: Reading, filter: JobFilter): Promise<CronJob[]> => {
  let query = db.q.selectFrom('cron_jobs').selectAll().where('state', 'in', ['scheduled', 'paused', ...(filter.completed ? (['completed'] as const) : []), ...(filter.removed === true ? (['removed'] as const) : [])]);
  if (filter.agent !== undefined) query = query.where('agent', '=', filter.agent);
  const jobs = (await query.execute()).map(toJob);
  const { madeBy } = filter;
  const seen = madeBy === undefined ? jobs : jobs.filter((job) => isMadeBy(job, madeBy));
  return seen.toSorted((a, b) => (a.nextAtMs ?? Infinity) - (b.nextAtMs ?? Infinity) || a.createdAtMs - b.createdAtMs);
};

export const isMadeBy = ({ origin }: Pick<CronJob, 'origin'>, person: { readonly account: string; readonly userId: string }): boolean =>
  origin !== null && origin.userId === person.userId && origin.target.account === person.account;

export const countJobs = async (db: Reading, agent: string): Promise<number> => {
  const row = await db.q
    .selectFrom('cron_jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('agent', '=', agent)
    .where('state', 'in', ['scheduled', 'paused'])
    .executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** Writes new settings and when it is due by them; a completed job is scheduled again by that. */
export const changeJob = async (tx: Writing, id: string, change: { settings: JobSettings; nextAtMs: number | null; state: CronJobState; fired: number }): Promise<void> => {
  await tx.q
    .updateTable('cron_jobs')
    .set({ ...settingsColumns(change.settings), next_at: change.nextAtMs, state: change.state, fired: change.fired, updated_at: tx.now })
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .execute();
  changed(tx, id);
};

export const setJobState = async (tx: Writing, id: string, change: { state: CronJobState; nextAtMs: number | null; pausedReason?: string }): Promise<void> => {
  await tx.q
    .updateTable('cron_jobs')
    .set({ state: change.state, next_at: change.nextAtMs, paused_reason: change.pausedReason ?? null, updated_at: tx.now })
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .execute();
  changed(tx, id);
};

/** The slots up to now are dealt with. */
export const advanceJob = async (tx: Writing, id: string, to: { nextAtMs: number | null; fired: number; state: CronJobState }): Promise<void> => {
  await tx.q.updateTable('cron_jobs').set({ next_at: to.nextAtMs, fired: to.fired, state: to.state }).where('id', '=', id).execute();
};

export const setFailures = async (tx: Writing, id: string, failures: number): Promise<void> => {
  await tx.q.updateTable('cron_jobs').set({ failures }).where('id', '=', id).execute();
};

export interface Due {
  readonly ids: readonly string[];
  /** Until the next one is due; zero when there are more, undefined when nothing is scheduled. */
  readonly nextInMs: number | undefined;
}

/** What is due, longest waiting first, and how long there is nothing to do after that. */
export const dueJobs = async (db: Reading, limit: number): Promise<Due> => {
  const rows = await db.q
    .selectFrom('cron_jobs')
    .select(['id', 'next_at', db.now.as('now')])
    .where('next_at', '>', 0)
    .orderBy('next_at')
    .limit(limit + 1)
    .execute();
  const isDue = (row: (typeof rows)[number]): boolean => row.next_at !== null && row.next_at <= Number(row.now);
  const next = rows.find((row, index) => index === limit || !isDue(row));
  return {
    ids: rows.slice(0, limit).filter(isDue).map(({ id }) => id),
    nextInMs: next?.next_at == null ? undefined : Math.max(0, next.next_at - Number(next.now)),
  };
};
