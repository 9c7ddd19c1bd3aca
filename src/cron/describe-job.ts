import type { CronJob } from '../store/cron/cron-jobs.ts';
import { deliveryStatus, newestRuns } from '../store/cron/cron-runs.ts';
import type { CronRun, DeliveryStatus } from '../store/cron/cron-runs.ts';
import type { CronRunState } from '../store/schema/reach-rows.ts';
import type { Reading } from '../store/store.ts';
import { localTime } from './prompt.ts';

/** A run and, apart from it, what became of its result. */
export interface RunView {
  readonly run: CronRun;
  readonly delivery: DeliveryStatus;
}

export interface JobView {
  readonly job: CronJob;
  readonly last: RunView | undefined;
}

export const viewRuns = async (db: Reading, runs: readonly CronRun[]): Promise<readonly RunView[]> => {
  const states = await deliveryStatus(db, runs);
  return runs.map((run) => ({ run, delivery: states.get(run.id) ?? { state: 'none', errors: [] } }));
};

/** Jobs with their newest run each. */
export const viewJobs = async (db: Reading, jobs: readonly CronJob[]): Promise<readonly JobView[]> => {
  const newest = await newestRuns(db, jobs.map(({ id }) => id));
  const views = new Map((await viewRuns(db, [...newest.values()])).map((view) => [view.run.jobId, view]));
  return jobs.map((job) => ({ job, last: views.get(job.id) }));
};

const words: Readonly<Record<CronRunState, string>> = {
  waiting: 'waits for an earlier run',
  ready: 'about to begin',
  running: 'running',
  ok: 'ok',
  silent: 'ok, nothing to report',
  failed: 'failed',
  timed_out: 'ran out of time',
  stopped: 'stopped',
  interrupted: 'cut off by a restart',
  skipped: 'skipped, an earlier run was not over',
  missed: 'missed',
};

const deliveryWords: Readonly<Record<DeliveryStatus['state'], string>> = { none: '', pending: 'on its way', delivered: 'delivered', failed: 'not delivered' };

/** `ok, delivered`, `failed: …`: how a run went, and then what became of its result. */
export const runText = ({ run, delivery }: RunView): string => {
  const why = run.error ?? run.note;
  const sent = [deliveryWords[delivery.state], ...delivery.errors].filter((part) => part !== '');
  return [`${words[run.state]}${why === null ? '' : ` (${why})`}`, sent.join(': ')].filter((part) => part !== '').join(', ');
};

export const nextText = (job: CronJob): string => {
  if (job.nextAtMs !== null) return localTime(job.nextAtMs, job.zone);
  return job.state === 'paused' ? `paused${job.pausedReason === null ? '' : `: ${job.pausedReason}`}` : 'no more';
};

/** A job in the log of administrative acts: never by words that somebody has written. */
export const auditedJob = (job: CronJob): string => `${job.id} (agent ${job.agent}, ${scheduleText(job)})`;

const runsLeft = ({ times, fired }: CronJob): string => (times === null ? '' : `, ${Math.max(0, times - fired)} of ${times} left`);

export const scheduleText = (job: CronJob): string => `${job.display}${job.schedule.kind === 'cron' ? ` (${job.zone})` : ''}${job.schedule.kind === 'once' ? '' : runsLeft(job)}`;

/** Everything about a job, line by line. */
export const jobFacts = ({ job, last }: JobView): readonly (readonly [name: string, value: string])[] => [
  ['Job', job.id],
  ['Name', job.name],
  ['Agent', job.agent],
  ['Schedule', scheduleText(job)],
  ['Next', nextText(job)],
  ['Last', last === undefined ? 'has not run yet' : `${localTime(last.run.dueAtMs, job.zone)}: ${runText(last)}`],
  ...(job.failures > 1 ? [['Failing', `${job.failures} times in a row`] as const] : []),
  ['Delivers to', job.deliver],
  ...(job.failureDeliver === undefined ? [] : [['Failures to', job.failureDeliver] as const]),
  ['Missed runs', job.missed],
  ['Overlap', job.overlap],
  ...(job.script === undefined ? [] : [['Script', `${job.script}${job.noAgent === true ? ', no agent' : ''}`] as const]),
  ...(job.skills.length === 0 ? [] : [['Skills', job.skills.join(', ')] as const]),
  ...(job.model === undefined ? [] : [['Model', job.model] as const]),
  ...(job.toolsets === undefined ? [] : [['Toolsets', job.toolsets.join(', ')] as const]),
  ...(job.workdir === undefined ? [] : [['Works in', job.workdir] as const]),
  ...(job.contextFrom === undefined ? [] : [['Reads results of', job.contextFrom.join(', ')] as const]),
  ...(job.mirror === true ? [['Mirrored', 'its results become part of the conversation they go to'] as const] : []),
  ...(job.prompt === '' ? [] : [['Question', job.prompt] as const]),
];

/** A job as a program reads it. */
export const jobSummary = ({ job, last }: JobView) => ({
  id: job.id,
  name: job.name,
  agent: job.agent,
  state: job.state,
  schedule: job.display,
  timezone: job.zone,
  next_run: job.nextAtMs === null ? null : new Date(job.nextAtMs).toISOString(),
  runs_left: job.times === null ? null : Math.max(0, job.times - job.fired),
  deliver: job.deliver,
  ...(job.failureDeliver !== undefined && { failure_deliver: job.failureDeliver }),
  missed: job.missed,
  overlap: job.overlap,
  prompt: job.prompt,
  skills: job.skills,
  ...(job.script !== undefined && { script: job.script, no_agent: job.noAgent === true }),
  ...(job.contextFrom !== undefined && { context_from: job.contextFrom }),
  ...(job.model !== undefined && { model: job.model }),
  ...(job.toolsets !== undefined && { toolsets: job.toolsets }),
  ...(job.workdir !== undefined && { workdir: job.workdir }),
  ...(job.mirror === true && { mirror: true }),
  ...(job.pausedReason !== null && { paused_reason: job.pausedReason }),
  failures_in_a_row: job.failures,
  last_run: last === undefined ? null : runSummary(last),
});

/** A run as a program reads it, without what it said. */
export const runSummary = ({ run, delivery }: RunView) => ({
  run: run.id,
  job: run.jobId,
  due: new Date(run.dueAtMs).toISOString(),
  cause: run.cause,
  state: run.state,
  started: run.startedAtMs === null ? null : new Date(run.startedAtMs).toISOString(),
  ended: run.endedAtMs === null ? null : new Date(run.endedAtMs).toISOString(),
  ...(run.error !== null && { error: run.error }),
  ...(run.note !== null && { note: run.note }),
  delivery: delivery.state,
  ...(delivery.errors.length > 0 && { delivery_errors: delivery.errors }),
  session: run.sessionId,
});
