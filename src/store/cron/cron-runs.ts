import type { Selectable } from 'kysely';
import type { Target } from '../../core/message.ts';
import { enqueueLane } from '../lanes/lanes.ts';
import type { CronRunCause, CronRunRow, CronRunState } from '../schema/reach-rows.ts';
import type { OutboxState } from '../schema/conversation-rows.ts';
import type { Reading, Writing } from '../store.ts';

/** Where the result of a run goes, decided when it begins. */
export interface DeliveryPlan {
  readonly results: readonly Target[];
  readonly failures: readonly Target[];
  /** What was written as a target and is none. */
  readonly problems: readonly string[];
}

/** How a run went. */
export interface RunResult {
  readonly state: Extract<CronRunState, 'ok' | 'silent' | 'failed' | 'timed_out' | 'stopped' | 'interrupted'>;
  readonly output?: string;
  /** One sentence for people. */
  readonly error?: string;
  /** The turn that it comes from. */
  readonly turnId?: number;
}

/** A message that a run has put on its way, by the keys of its parts; or why it could not be. */
export interface RunDelivery {
  readonly to: string;
  readonly keys: readonly string[];
  readonly error?: string;
}

export interface CronRun {
  readonly id: number;
  readonly jobId: string;
  readonly agent: string;
  readonly slot: string;
  readonly dueAtMs: number;
  readonly cause: CronRunCause;
  readonly state: CronRunState;
  readonly plan: DeliveryPlan | null;
  readonly sessionId: string | null;
  readonly scriptAtMs: number | null;
  readonly result: RunResult | null;
  readonly note: string | null;
  readonly output: string | null;
  readonly error: string | null;
  readonly deliveries: readonly RunDelivery[];
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

const open = ['waiting', 'ready', 'running'] as const satisfies readonly CronRunState[];

/** How a run can end. */
export type RunEnd = Exclude<CronRunState, (typeof open)[number]>;

export const isOpen = ({ state }: Pick<CronRun, 'state'>): boolean => open.some((each) => each === state);

/** Where runs take place: no account of anybody, so that nothing can be sent there. */
export const cronAccount = 'cron';

/** The lane that a run is worked on in, from its beginning to its end. */
export const cronLane = (runId: number): string => `cron:${runId}`;
export const runOfLane = (lane: string): number => Number(lane.slice('cron:'.length));

const toRun = (row: Selectable<CronRunRow>): CronRun => ({
  id: row.id,
  jobId: row.job_id,
  agent: row.agent,
  slot: row.slot,
  dueAtMs: row.due_at,
  cause: row.cause,
  state: row.state,
  plan: row.plan === null ? null : (JSON.parse(row.plan) as DeliveryPlan),
  sessionId: row.session_id,
  scriptAtMs: row.script_at,
  result: row.result === null ? null : (JSON.parse(row.result) as RunResult),
  note: row.note,
  output: row.output,
  error: row.error,
  deliveries: row.deliveries === null ? [] : (JSON.parse(row.deliveries) as RunDelivery[]),
  createdAtMs: row.created_at,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at,
});

export interface NewRun {
  readonly jobId: string;
  readonly agent: string;
  /** The same again is the same run. */
  readonly slot: string;
  readonly dueAtMs: number;
  readonly cause: CronRunCause;
  readonly state: Extract<CronRunState, 'ready' | 'waiting' | 'skipped' | 'missed'>;
  readonly note?: string;
}

/** The run's number, or undefined when the slot has its run already. One that is ready is taken up at once. */
export const insertRun = async (tx: Writing, run: NewRun): Promise<number | undefined> => {
  const row = await tx.q
    .insertInto('cron_runs')
    .values({
      job_id: run.jobId,
      agent: run.agent,
      slot: run.slot,
      due_at: run.dueAtMs,
      cause: run.cause,
      state: run.state,
      plan: null,
      session_id: null,
      script_at: null,
      result: null,
      note: run.note ?? null,
      output: null,
      error: null,
      deliveries: null,
      created_at: tx.now,
      started_at: null,
      ended_at: run.state === 'skipped' || run.state === 'missed' ? tx.now : null,
    })
    .onConflict((conflict) => conflict.columns(['job_id', 'slot']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row !== undefined && run.state === 'ready') await enqueueLane(tx, { lane: cronLane(row.id), kind: 'cron' });
  return row?.id;
};

export const findRun = async (db: Reading, id: number): Promise<CronRun | undefined> => {
  const row = await db.q.selectFrom('cron_runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
};

export const runOfSession = async (db: Reading, sessionId: string): Promise<CronRun | undefined> => {
  const row = await db.q.selectFrom('cron_runs').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
};

/** Runs of a job that have not ended, oldest first. */
export const openRuns = async (db: Reading, jobId: string): Promise<CronRun[]> => {
  // Sorted here: asked for in order, SQLite would rather read all that the job has ever run.
  const rows = await db.q.selectFrom('cron_runs').selectAll().where('state', 'in', [...open]).where('job_id', '=', jobId).execute();
  return rows.map(toRun).toSorted((a, b) => a.id - b.id);
};

/** It runs from now on. With `script`, its script is about to be started. */
export const beginRun = async (tx: Writing, id: number, begun: { plan: DeliveryPlan; script: boolean }): Promise<void> => {
  await tx.q
    .updateTable('cron_runs')
    .set({ state: 'running', started_at: tx.now, plan: JSON.stringify(begun.plan), script_at: begun.script ? tx.now : null })
    .where('id', '=', id)
    .execute();
};

export const setRunSession = async (tx: Writing, id: number, sessionId: string): Promise<void> => {
  await tx.q.updateTable('cron_runs').set({ session_id: sessionId }).where('id', '=', id).execute();
};

/** The agent has answered: whoever works on the run is told, and goes on from here whenever that is. */
export const keepResult = async (tx: Writing, id: number, result: RunResult): Promise<void> => {
  await tx.q.updateTable('cron_runs').set({ result: JSON.stringify(result) }).where('id', '=', id).where('state', '=', 'running').where('result', 'is', null).execute();
  tx.notify('cron', `run:${id}`);
};

/** False when it has ended already. Whoever works on it is told. */
export const endRun = async (tx: Writing, id: number, end: Omit<RunResult, 'state' | 'turnId'> & { readonly state: RunEnd; readonly deliveries: readonly RunDelivery[] }): Promise<boolean> => {
  const result = await tx.q
    .updateTable('cron_runs')
    .set({ state: end.state, result: null, output: end.output ?? null, error: end.error ?? null, deliveries: JSON.stringify(end.deliveries), ended_at: tx.now })
    .where('id', '=', id)
    .where('state', 'in', [...open])
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) return false;
  tx.notify('cron', `run:${id}`);
  return true;
};

/** The run that has waited longest for its job begins now, if there is one. */
export const releaseWaiting = async (tx: Writing, jobId: string): Promise<void> => {
  const row = await tx.q.selectFrom('cron_runs').select('id').where('job_id', '=', jobId).where('state', '=', 'waiting').orderBy('id').limit(1).executeTakeFirst();
  if (row === undefined) return;
  await tx.q.updateTable('cron_runs').set({ state: 'ready' }).where('id', '=', row.id).execute();
  await enqueueLane(tx, { lane: cronLane(row.id), kind: 'cron' });
};

/** Of these, those whose agent has answered, and those that have ended or are gone. */
export const answeredAmong = async (db: Reading, ids: readonly number[]): Promise<readonly number[]> => {
  if (ids.length === 0) return [];
  const rows = await db.q.selectFrom('cron_runs').select('id').where('id', 'in', [...ids]).where('state', 'in', [...open]).where('result', 'is', null).execute();
  const running = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !running.has(id));
};

/** Newest first. */
export const listRuns = async (db: Reading, filter: { jobId?: string; agent?: string; limit: number }): Promise<CronRun[]> => {
  let query = db.q.selectFrom('cron_runs').selectAll();
  if (filter.jobId !== undefined) query = query.where('job_id', '=', filter.jobId);
  if (filter.agent !== undefined) query = query.where('agent', '=', filter.agent);
  return (await query.orderBy('id', 'desc').limit(filter.limit).execute()).map(toRun);
};

/** The newest run of each of these jobs, by job. */
export const newestRuns = async (db: Reading, jobIds: readonly string[]): Promise<ReadonlyMap<string, CronRun>> => {
  if (jobIds.length === 0) return new Map();
  const newest = db.q.selectFrom('cron_runs').select((eb) => eb.fn.max('id').as('id')).where('job_id', 'in', [...jobIds]).groupBy('job_id');
  const rows = await db.q.selectFrom('cron_runs').selectAll().where('id', 'in', newest).execute();
  return new Map(rows.map((row) => [row.job_id, toRun(row)]));
};

/** What a job said when it last had something to say. */
export const lastOutput = async (db: Reading, jobId: string): Promise<{ readonly output: string; readonly endedAtMs: number } | undefined> => {
  const row = await db.q.selectFrom('cron_runs').select(['output', 'ended_at']).where('job_id', '=', jobId).where('state', '=', 'ok').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row?.output == null ? undefined : { output: row.output, endedAtMs: row.ended_at ?? 0 };
};

/** Apart from how the run ended: a result can be there and not arrive. */
export interface DeliveryStatus {
  readonly state: 'none' | 'pending' | 'delivered' | 'failed';
  /** Why something did not arrive, where it was to go. */
  readonly errors: readonly string[];
}

const gone: readonly OutboxState[] = ['failed', 'cancelled'];

interface Part {
  readonly state: OutboxState;
  readonly error: string | null;
}

const statusOf = (run: CronRun, partOf: (key: string) => Part): DeliveryStatus => {
  const parts = run.deliveries.flatMap(({ to, keys, error }) => (error === undefined ? keys.map((key) => ({ to, ...partOf(key) })) : [{ to, state: 'failed' as const, error }]));
  const errors = parts.filter(({ state }) => gone.includes(state)).map(({ to, state, error }) => `${to}: ${error ?? state}`);
  if (errors.length > 0) return { state: 'failed', errors };
  if (parts.length === 0) return { state: 'none', errors };
  return { state: parts.every(({ state }) => state === 'sent') ? 'delivered' : 'pending', errors };
};

/** What became of what the runs have put on its way, by run. What is too old to be traced has arrived as far as anybody knows. */
export const deliveryStatus = async (db: Reading, runs: readonly CronRun[]): Promise<ReadonlyMap<number, DeliveryStatus>> => {
  const keys = runs.flatMap((run) => run.deliveries.flatMap((delivery) => delivery.keys));
  const rows = keys.length === 0 ? [] : await db.q.selectFrom('outbox').select(['key', 'state', 'error']).where('key', 'in', keys).execute();
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return new Map(runs.map((run) => [run.id, statusOf(run, (key) => byKey.get(key) ?? { state: 'sent', error: null })]));
};
