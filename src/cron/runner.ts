import { join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { slept } from '../lib/clock.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import { dueJobs, setJobState } from '../store/cron/cron-jobs.ts';
import { answeredAmong, findRun } from '../store/cron/cron-runs.ts';
import type { RunResult } from '../store/cron/cron-runs.ts';
import { LaneScheduler } from '../store/lanes/lane-scheduler.ts';
import { extendLanes, holdLane, laneStates, releaseLane } from '../store/lanes/lanes.ts';
import type { Claim } from '../store/lanes/lanes.ts';
import { persist } from '../store/persist.ts';
import type { Writing } from '../store/store.ts';
import type { CronAgent, CronDeps } from './deps.ts';
import { finishRun, prepareResult } from './finish-run.ts';
import { fireJob } from './fire-job.ts';
import { pruneRuns } from './prune-runs.ts';
import { runScript } from './run-script.ts';
import type { ScriptResult } from './run-script.ts';
import { resultOfText } from './settle-turn.ts';
import { askAgent, takeRun } from './take-run.ts';
import type { HeldRun } from './take-run.ts';
import { wakesAgent } from './wake-gate.ts';

const leaseMs = 60_000;
/** What a notification or a clock that was set has kept from us costs at most this. */
const lookEveryMs = 5_000;
/** So long before somebody else may take a run, work on it has ended here. */
const marginMs = 2 * lookEveryMs;
/** Somebody else is at what is due, or the store is in trouble. */
const restMs = 250;
const retryMs = 5_000;
const batch = 256;
const pruneEveryMs = 3_600_000;

const cutOffScript: ScriptResult = { end: 'interrupted', stdout: '', stderr: '' };

/** A run under way here, with what ends its script and wakes whoever waits for it. */
interface HeldHere {
  readonly claim: Claim;
  readonly woken: AbortController;
  /** Until then, by our clock, nobody else can have taken it. */
  heldUntilMs: number;
}

/** The result of a job that asks nobody. */
const resultOfScript = (script: ScriptResult): RunResult => {
  switch (script.end) {
    case 'exited':
      if (script.exitCode !== 0) return { state: 'failed', output: script.stdout, error: `its script failed with exit code ${script.exitCode ?? 'unknown'}${script.stderr.trim() === '' ? '' : `: ${script.stderr.trim().slice(-500).toWellFormed()}`}` };
      return script.stdout.trim() === '' || !wakesAgent(script.stdout) ? { state: 'silent', output: script.stdout } : resultOfText(script.stdout.trimEnd());
    case 'timeout':
      return { state: 'timed_out', output: script.stdout, error: 'its script took too long' };
    case 'interrupted':
      return { state: 'interrupted', output: script.stdout, error: 'its script was cut off when the gateway ended, and was not run again' };
    case 'not_started':
      return { state: 'failed', error: script.problem };
    default:
      throw script satisfies never;
  }
};

/** Runs jobs when they are due: woken for the next of them, each slot once whoever else runs on the same store, all of it recoverable. */
export class CronRunner {
  readonly #deps: CronDeps;
  readonly #scheduler: LaneScheduler;
  readonly #stop = new AbortController();
  readonly #killScripts = new AbortController();
  readonly #held = new Map<number, HeldHere>();
  readonly #subscriptions: Disposable[] = [];
  #changed = new AbortController();
  #loops: readonly Promise<void>[] = [];

  constructor(deps: CronDeps) {
    this.#deps = deps;
    const { store, clock, log } = deps;
    this.#scheduler = new LaneScheduler({
      store,
      kind: 'cron',
      clock,
      log,
      work: (lane) => this.#work(lane),
      get concurrency() {
        return deps.options().max_parallel_jobs;
      },
    });
  }

  start(): void {
    this.#subscriptions.push(this.#deps.store.listen('cron', (payload) => this.#onNotice(payload)));
    this.#scheduler.start();
    this.#loops = [this.#fireLoop(), this.#watchLoop()];
  }

  /** Begins nothing more. Scripts get `graceMs` to end by themselves; agents go on by their own rules, and every run is taken up again after the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    const timer = setTimeout(() => this.#killScripts.abort(), graceMs);
    await this.#scheduler.stop();
    clearTimeout(timer);
    await Promise.all(this.#loops);
  }

  #onNotice(payload: string): void {
    const [what, id] = payload.split(':');
    if (what === 'run') this.#held.get(Number(id))?.woken.abort();
    else this.#changed.abort();
  }

  async #fireLoop(): Promise<void> {
    const { store, clock, log } = this.#deps;
    while (!this.#stop.signal.aborted) {
      this.#changed = new AbortController();
      let waitMs = restMs;
      try {
        const { ids, nextInMs } = await store.read((db) => dueJobs(db, batch));
        const fired = await Promise.all(ids.map((id) => this.#fire(id)));
        if (fired.includes(true)) waitMs = 0;
        else if (ids.length === 0) waitMs = Math.min(lookEveryMs, nextInMs ?? lookEveryMs);
      } catch (error) {
        log.error({ err: error }, 'cron.not_looked');
      }
      if (waitMs > 0) await slept(clock, waitMs, AbortSignal.any([this.#stop.signal, this.#changed.signal]));
    }
  }

  /** One job that cannot be fired does not hold up the others. */
  async #fire(id: string): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    try {
      return await store.write((tx) => fireJob(tx, id));
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const errorId = newId('err', clock.now());
      log.error({ err: error, job: id, error_id: errorId }, 'cron.not_fired');
      await store.write((tx) => setJobState(tx, id, { state: 'paused', nextAtMs: null, pausedReason: `its schedule cannot be used (${errorId})` }));
      return true;
    }
  }

  async #work(lane: string): Promise<number | undefined> {
    const { store, owner, log } = this.#deps;
    const held = await store.write((tx) => takeRun(tx, this.#deps, { lane, owner, leaseMs }));
    if (held.type === 'wait') return held.ms;
    const woken = new AbortController();
    this.#held.set(held.run.id, { claim: held.claim, woken, heldUntilMs: this.#deps.clock.now() + leaseMs });
    try {
      const result = await this.#result(held, woken.signal);
      // Without one this process stops, and whoever starts next goes on; or somebody has ended the run.
      if (result !== undefined) await this.#finish(held, result);
      await store.write((tx) => releaseLane(tx, held.claim, { more: result === undefined }));
      return undefined;
    } catch (error) {
      // What was cut off by the end of the process goes on after the next start.
      if (!(error instanceof StoreError) && !this.#killScripts.signal.aborted) throw error;
      log.warn({ err: error, run: held.run.id }, 'cron.run_put_down');
      if (error instanceof StoreError && error.code === 'lane_lost') return undefined;
      await store.write((tx) => releaseLane(tx, held.claim, { more: true, readyInMs: retryMs }));
      return retryMs;
    } finally {
      this.#held.delete(held.run.id);
    }
  }

  /** How the run went; undefined when it is not over, or was ended by somebody. */
  async #result(held: HeldRun, woken: AbortSignal): Promise<RunResult | undefined> {
    const { store, clock, log } = this.#deps;
    if (held.run.result !== null) return held.run.result;
    try {
      const early = held.run.sessionId === null ? await this.#begin(held, woken) : undefined;
      if (early !== undefined) return early === 'unfinished' ? undefined : early;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const errorId = newId('err', clock.now());
      log.error({ err: error, job: held.job.id, run: held.run.id, error_id: errorId }, 'cron.run_broke');
      return { state: 'failed', error: `something went wrong on the gateway’s side (${errorId})` };
    }
    await untilAborted(AbortSignal.any([woken, this.#stop.signal]));
    return (await store.read((db) => findRun(db, held.run.id)))?.result ?? undefined;
  }

  /** Does what comes before the agent is asked, and asks it; answers the result where that makes one already. */
  async #begin(held: HeldRun, woken: AbortSignal): Promise<RunResult | 'unfinished' | undefined> {
    const { job } = held;
    const agent = await this.#deps.agent(job.agent);
    if (agent === undefined) return { state: 'failed', error: `there is no agent ${job.agent} any more` };
    const folder = job.workdir === undefined ? undefined : await agent.findFolder(job.workdir);
    if (folder?.type === 'problem') return { state: 'failed', error: folder.problem };
    const script = await this.#script(held, { agent, workdir: folder?.real }, woken);
    if (script === 'unfinished') return script;
    if (job.noAgent === true) return resultOfScript(script ?? { end: 'not_started', problem: 'the job has no script' });
    if (script?.end === 'exited' && script.exitCode === 0 && !wakesAgent(script.stdout)) return { state: 'silent', output: script.stdout };
    const isAsked = await this.#write(held.claim, (tx) => askAgent(tx, held, { agent, script, workdir: folder?.real, nowMs: this.#deps.clock.now() }));
    return isAsked ? undefined : 'unfinished';
  }

  async #script({ job, cutOff }: HeldRun, { agent, workdir }: { readonly agent: CronAgent; readonly workdir: string | undefined }, woken: AbortSignal): Promise<ScriptResult | 'unfinished' | undefined> {
    if (job.script === undefined) return undefined;
    // What was cut off may have had its effect: it is not run again by itself.
    if (cutOff) return cutOffScript;
    const { clock, childEnvironment, options } = this.#deps;
    const result = await runScript(job.script, {
      folder: join(agent.home, 'scripts'),
      workdir,
      env: { ...childEnvironment(), HERMES_CRON_JOB_ID: job.id, HERMES_CRON_JOB_NAME: job.name },
      timeoutMs: options().script_timeout * 1000,
      clock,
      signal: AbortSignal.any([this.#killScripts.signal, woken]),
    });
    return result.end === 'interrupted' ? 'unfinished' : result;
  }

  async #finish(held: HeldRun, result: RunResult): Promise<void> {
    const { job, run, claim } = held;
    const messages = await prepareResult(this.#deps, { job, run, result }, this.#killScripts.signal);
    await this.#write(claim, (tx) => finishRun(tx, this.#deps, run.id, { result, messages }));
    this.#deps.log.info({ job: job.id, run: run.id, agent: job.agent, state: result.state, error: result.error, due: new Date(run.dueAtMs).toISOString() }, 'cron.done');
  }

  /** What a script or an agent has found out is not thrown away because the disk is full for a moment. */
  #write<T>(claim: Claim, work: (tx: Writing) => Promise<T>): Promise<T> {
    const { store, clock, log } = this.#deps;
    const once = async (tx: Writing): Promise<T> => {
      await holdLane(tx, claim, leaseMs);
      return work(tx);
    };
    return persist(() => store.write(once), { clock, log: log.child({ lane: claim.lane }), signal: this.#killScripts.signal });
  }

  /** Wakes whoever waits for a run that has ended, or that somebody else has by now: nobody works on it twice. */
  async #look(): Promise<void> {
    const { store, clock } = this.#deps;
    const askedMs = clock.now();
    const lanes = [...this.#held.values()].map(({ claim }) => claim.lane);
    const { answered, states } = await store.read(async (db) => ({ answered: await answeredAmong(db, [...this.#held.keys()]), states: await laneStates(db, lanes) }));
    for (const id of answered) this.#held.get(id)?.woken.abort();
    for (const held of this.#held.values()) {
      const { claim, woken } = held;
      const state = states.get(claim.lane);
      // It was taken up since.
      if (state === undefined && !lanes.includes(claim.lane)) continue;
      if (state?.owner === claim.owner && state.fence === claim.fence) held.heldUntilMs = askedMs + state.leftMs;
      else woken.abort();
    }
  }

  /** While the database that others share does not answer, work ends here before they may take it over. */
  #endUnsure(): void {
    const { store, clock } = this.#deps;
    if (store.engine === 'sqlite') return;
    for (const { heldUntilMs, woken } of this.#held.values()) if (heldUntilMs - clock.now() < marginMs) woken.abort();
  }

  /** Signs of life for the runs under way, ends whose notification was missed, and what is too old to be kept. */
  async #watchLoop(): Promise<void> {
    const { store, clock, owner, log } = this.#deps;
    let [extendedMs, prunedMs] = [clock.now(), clock.now()];
    while (await slept(clock, lookEveryMs, this.#stop.signal)) {
      try {
        if (this.#held.size > 0) await this.#look();
        // The clock may have been set back.
        if (Math.abs(clock.now() - extendedMs) >= leaseMs / 3) {
          extendedMs = clock.now();
          const lanes = [...this.#held.values()].map(({ claim }) => claim.lane);
          if (lanes.length > 0) await store.write((tx) => extendLanes(tx, { owner, lanes, leaseMs }));
        }
        if (Math.abs(clock.now() - prunedMs) >= pruneEveryMs) {
          prunedMs = clock.now();
          await pruneRuns(store, { keepDays: this.#deps.options().keep_days, signal: this.#stop.signal });
        }
      } catch (error) {
        this.#endUnsure();
        log.error({ err: error }, 'cron.watch_failed');
      }
    }
  }
}
