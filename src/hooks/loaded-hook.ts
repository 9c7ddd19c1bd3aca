import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Asked, Decider } from './consult.ts';
import { HookError } from './hook-error.ts';
import type { HookManifest } from './manifest.ts';
import { timeoutOf } from './manifest.ts';
import type { HookReport, Observer } from './observer.ts';
import { isWorthALine, newCounts } from './observer.ts';
import type { HookRunner } from './runner.ts';
import { TellingQueue } from './telling-queue.ts';
import { withinLimit } from './within-limit.ts';

export interface HookRun {
  readonly hook: string;
  readonly event: string;
  readonly outcome: 'ok' | 'failed' | 'dropped';
}

export interface LoadedHookDeps {
  readonly clock: Clock;
  readonly log: Logger;
  onRun(run: HookRun): void;
}

export interface LoadedHookFacts {
  readonly id: string;
  readonly agent: string | undefined;
  /** Where it lies; nowhere if it comes with the gateway. */
  readonly folder?: string;
  readonly manifest: HookManifest;
}

const mostWaiting = 256;
/** A decision that could not be had so many times in a row is not asked for during the rest. */
const patience = 3;
const restMs = 60_000;

/** A hook at work: told of events in order, asked for decisions at once, and never able to hurt whoever calls. */
export class LoadedHook implements Observer, Decider {
  readonly id: string;
  readonly agent: string | undefined;
  readonly folder: string | undefined;
  readonly manifest: HookManifest;
  readonly #deps: LoadedHookDeps;
  readonly #runner: HookRunner;
  readonly #queue: TellingQueue<{ readonly event: string; readonly context: unknown }>;
  readonly #stop = new AbortController();
  readonly #asked = new Set<Promise<Asked>>();
  readonly #counts = newCounts();
  #failedInARow = 0;
  #restUntilMs = -Infinity;

  constructor({ id, agent, folder, manifest }: LoadedHookFacts, runner: HookRunner, deps: LoadedHookDeps) {
    this.id = id;
    this.agent = agent;
    this.folder = folder;
    this.manifest = manifest;
    this.#runner = runner;
    this.#deps = deps;
    this.#queue = new TellingQueue({
      clock: deps.clock,
      most: mostWaiting,
      tell: async ({ event, context }, signal) => void (await this.#call(event, context, { timeoutMs: timeoutOf(manifest, event), signal })),
      onDropped: (count, why) => this.#dropped(count, why),
    });
  }

  get events(): readonly string[] {
    return this.manifest.events;
  }

  get onFailure(): 'pass' | 'block' {
    return this.manifest.on_failure;
  }

  observe(event: string, context: unknown): void {
    this.#queue.add({ event, context });
  }

  ask(event: string, context: unknown, limitMs: number): Promise<Asked> {
    const asked = this.#ask(event, context, limitMs).finally(() => this.#asked.delete(asked));
    this.#asked.add(asked);
    return asked;
  }

  async #ask(event: string, context: unknown, limitMs: number): Promise<Asked> {
    const { clock, log } = this.#deps;
    if (clock.now() < this.#restUntilMs) return { type: 'failed', problem: `it rests after ${patience} failures, the last: ${this.#counts.lastProblem ?? 'unknown'}` };
    const asked = await this.#call(event, context, { timeoutMs: Math.min(limitMs, timeoutOf(this.manifest, event)), signal: this.#stop.signal });
    if (asked.type === 'answered') {
      this.#failedInARow = 0;
      return asked;
    }
    this.#failedInARow += 1;
    if (this.#failedInARow >= patience) {
      this.#restUntilMs = clock.now() + restMs;
      log.error({ hook: this.id, failures: this.#failedInARow, rest_ms: restMs, on_failure: this.onFailure }, 'hook.rests');
    }
    return asked;
  }

  refuse(problem: string): void {
    this.#failed('an answer', problem);
  }

  report(): HookReport {
    const { calls, failures, dropped, lastProblem } = this.#counts;
    return { id: this.id, agent: this.agent, events: this.events, calls, failures, dropped, waiting: this.#queue.waiting, lastProblem };
  }

  async close(graceMs: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([Promise.all([this.#queue.close(graceMs), ...this.#asked]), slept(this.#deps.clock, graceMs, over.signal)]);
    over.abort();
    this.#stop.abort();
    await this.#runner.close();
  }

  async #call(event: string, context: unknown, limit: { timeoutMs: number; signal: AbortSignal }): Promise<Asked> {
    const { clock, log, onRun } = this.#deps;
    const startedMs = clock.now();
    this.#counts.calls += 1;
    try {
      const value = await withinLimit(this.#runner.call(event, context, { clock, ...limit }), { clock, ...limit });
      onRun({ hook: this.id, event, outcome: 'ok' });
      log.debug({ hook: this.id, event, ms: clock.now() - startedMs }, 'hook.called');
      return { type: 'answered', value };
    } catch (error) {
      const problem = error instanceof HookError ? error.message : 'it could not be called';
      if (!(error instanceof HookError)) log.error({ err: error, hook: this.id, event }, 'hook.not_called');
      this.#failed(event, problem);
      return { type: 'failed', problem };
    }
  }

  #failed(event: string, problem: string): void {
    this.#counts.failures += 1;
    this.#counts.lastProblem = problem;
    this.#deps.onRun({ hook: this.id, event, outcome: 'failed' });
    this.#deps.log.warn({ hook: this.id, event, problem }, 'hook.failed');
  }

  #dropped(count: number, why: 'full' | 'closed'): void {
    this.#counts.dropped += count;
    this.#deps.onRun({ hook: this.id, event: '', outcome: 'dropped' });
    if (isWorthALine(this.#counts.dropped, why)) this.#deps.log.warn({ hook: this.id, dropped: this.#counts.dropped, why }, 'hook.overwhelmed');
  }
}
