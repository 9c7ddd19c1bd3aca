import type { Target } from '../core/message.ts';
import { resolveTarget } from '../delivery/resolve-target.ts';
import { enqueueNotice } from '../sessions/notice.ts';
import { findJob, lockJob } from '../store/cron/cron-jobs.ts';
import type { CronJob } from '../store/cron/cron-jobs.ts';
import { beginRun, findRun, isOpen, lastOutput, runOfLane, setRunSession } from '../store/cron/cron-runs.ts';
import type { CronRun, DeliveryPlan } from '../store/cron/cron-runs.ts';
import { claimLane, laneWaitMs, releaseLane } from '../store/lanes/lanes.ts';
import type { Claim } from '../store/lanes/lanes.ts';
import { changeSettings, createSession } from '../store/sessions/sessions.ts';
import type { Reading, Writing } from '../store/store.ts';
import type { CronAgent, CronDeps } from './deps.ts';
import { finishRun } from './finish-run.ts';
import { cronSessionId, cronSessionKey, cronTarget, cronTitle } from './place.ts';
import { runPrompt } from './prompt.ts';
import type { ScriptResult } from './run-script.ts';

/** A run that is ours to work on. */
export interface HeldRun {
  readonly type: 'run';
  readonly claim: Claim;
  readonly job: CronJob;
  readonly run: CronRun & { readonly plan: DeliveryPlan };
  /** Its script was under way when a process ended. */
  readonly cutOff: boolean;
}

export type TakenRun = HeldRun | { readonly type: 'wait'; readonly ms: number | undefined };

const targetsOf = async (db: Reading, deps: CronDeps, written: { readonly text: string; readonly origin: Target | undefined }): Promise<{ readonly targets: readonly Target[]; readonly problems: readonly string[] }> => {
  const { destinations, problems } = await resolveTarget(db, deps.targets, written);
  return { targets: destinations.flatMap((destination) => (destination.type === 'chat' ? [destination.target] : [])), problems };
};

/** Where the results of a job go now. */
export const planDelivery = async (db: Reading, deps: CronDeps, job: Pick<CronJob, 'deliver' | 'failureDeliver' | 'origin'>): Promise<DeliveryPlan> => {
  const origin = job.origin?.target;
  const results = await targetsOf(db, deps, { text: job.deliver, origin });
  const failures = job.failureDeliver === undefined ? results : await targetsOf(db, deps, { text: job.failureDeliver, origin });
  return { results: results.targets, failures: failures.targets, problems: [...new Set([...results.problems, ...failures.problems])] };
};

const nothing: TakenRun = { type: 'wait', ms: undefined };

/** Claims a run's lane and says what is to be done. Where its result goes is decided now and travels with it. */
export const takeRun = async (tx: Writing, deps: CronDeps, lane: { readonly lane: string; readonly owner: string; readonly leaseMs: number }): Promise<TakenRun> => {
  const claim = await claimLane(tx, lane);
  if (claim === undefined) return { type: 'wait', ms: await laneWaitMs(tx, lane.lane) };
  const run = await findRun(tx, runOfLane(lane.lane));
  const job = run === undefined || !isOpen(run) ? undefined : (await lockJob(tx, run.jobId))?.job;
  if (run === undefined || job === undefined) {
    if (run !== undefined) await finishRun(tx, deps, run.id, { result: { state: 'stopped' }, messages: [] });
    await releaseLane(tx, claim, { more: false });
    return nothing;
  }
  if (run.plan !== null) return { type: 'run', claim, job, run: { ...run, plan: run.plan }, cutOff: run.scriptAtMs !== null };
  const plan = await planDelivery(tx, deps, job);
  await beginRun(tx, run.id, { plan, script: job.script !== undefined });
  return { type: 'run', claim, job, run: { ...run, state: 'running', plan }, cutOff: false };
};

const promptOf = async (db: Reading, held: HeldRun, ask: { readonly agent: CronAgent; readonly script: ScriptResult | undefined }): Promise<string> => {
  const { job, run } = held;
  const context: { name: string; output: string | undefined }[] = [];
  for (const id of job.contextFrom ?? []) context.push({ name: (await findJob(db, id))?.name ?? id, output: (await lastOutput(db, id))?.output });
  const skills = job.skills.map((name) => ({ name, skill: ask.agent.findSkill(name) }));
  return ask.agent.redact(runPrompt(job, { dueAtMs: run.dueAtMs, plan: run.plan, context, skills, ...(ask.script !== undefined && { script: ask.script }) }));
};

/** Opens the conversation of a run and asks its agent. False when the run has been ended meanwhile. */
export const askAgent = async (tx: Writing, held: HeldRun, ask: { readonly agent: CronAgent; readonly script: ScriptResult | undefined; readonly workdir: string | undefined; readonly nowMs: number }): Promise<boolean> => {
  const { job } = held;
  const run = await findRun(tx, held.run.id);
  if (run === undefined || !isOpen(run)) return false;
  const sessionId = cronSessionId(job, run);
  await createSession(tx, { id: sessionId, agent: job.agent, account: cronTarget(job).account, chatType: 'dm', title: cronTitle(job, run) });
  const { model, toolsets } = job;
  const { workdir } = ask;
  if ([model, toolsets, workdir].some((set) => set !== undefined)) await changeSettings(tx, sessionId, { ...(model !== undefined && { model }), ...(toolsets !== undefined && { toolsets }), ...(workdir !== undefined && { workdir }) });
  await setRunSession(tx, run.id, sessionId);
  const text = await promptOf(tx, held, ask);
  await enqueueNotice(tx, { sessionId, key: `cron:${run.id}`, text, at: { target: cronTarget(job), sessionKey: cronSessionKey(job) }, nowMs: ask.nowMs });
  return true;
};
