import { backoffMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { FoundHook } from './discover.ts';
import { HookError } from './hook-error.ts';
import type { HookRunner } from './runner.ts';
import { startThread } from './start-thread.ts';
import type { Thread } from './start-thread.ts';
import { withinLimit } from './within-limit.ts';
import type { CallLimit } from './within-limit.ts';

export interface ModuleDeps {
  readonly clock: Clock;
  childEnvironment(): Readonly<Record<string, string>>;
  onLine(line: string): void;
}

const startLimitMs = 10_000;
const restart = { baseMs: 1_000, capMs: 300_000 };

interface Started {
  readonly thread: Thread;
  /** Settles when the code has been loaded, or could not be. */
  readonly loaded: Promise<void>;
  calls: number;
  /** No further call goes to it; those that are under way may end within their own time. */
  retired: boolean;
}

/**
 * A hook that is a TypeScript or JavaScript module. It is loaded once, into a thread that stays, so it may keep things in memory; a thread that hangs, breaks or
 * grows too large is ended, and the next event gets a fresh one.
 */
export class ModuleRunner implements HookRunner {
  readonly #hook: Pick<FoundHook, 'id' | 'agent' | 'handler'>;
  readonly #deps: ModuleDeps;
  readonly #closing = new AbortController();
  readonly #all = new Set<Started>();
  #current: Started | undefined;
  #failedStarts = 0;
  #notBeforeMs = -Infinity;
  #lastProblem = '';

  constructor(hook: Pick<FoundHook, 'id' | 'agent' | 'handler'>, deps: ModuleDeps) {
    this.#hook = hook;
    this.#deps = deps;
  }

  /** Loads the code before it is needed; rejects with a `HookError` when that does not work. */
  load(): Promise<void> {
    return this.#use().loaded;
  }

  async call(event: string, context: unknown, limit: CallLimit): Promise<unknown> {
    const started = this.#use();
    await withinLimit(started.loaded, limit);
    started.calls += 1;
    try {
      return await withinLimit(started.thread.call(event, context), limit);
    } catch (error) {
      if (error instanceof HookError && (error.code === 'timeout' || error.code === 'aborted')) this.#retire(started);
      throw error;
    } finally {
      started.calls -= 1;
      if (started.retired && started.calls === 0) await this.#end(started);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#all].map((started) => this.#end(started)));
  }

  /** A module that cannot be loaded is tried again after growing waits, not with every event. */
  #use(): Started {
    if (this.#closing.signal.aborted) throw new HookError('aborted', 'it has been closed');
    if (this.#current?.thread.ended === false) return this.#current;
    if (this.#current !== undefined) this.#all.delete(this.#current);
    if (this.#deps.clock.now() < this.#notBeforeMs) throw new HookError('not_started', this.#lastProblem);
    this.#current = this.#start();
    return this.#current;
  }

  #start(): Started {
    const { clock } = this.#deps;
    const { id, agent, handler } = this.#hook;
    const env = { ...this.#deps.childEnvironment(), HERMES_HOOK: id, ...(agent !== undefined && { HERMES_AGENT_ID: agent }) };
    const thread = startThread({ id, path: handler.path, env, clock, onLine: (line) => this.#deps.onLine(line) });
    const started: Started = { thread, loaded: withinLimit(thread.ready, { clock, timeoutMs: startLimitMs, signal: this.#closing.signal }), calls: 0, retired: false };
    this.#all.add(started);
    void started.loaded.then(
      () => (this.#failedStarts = 0),
      (error: unknown) => this.#notLoaded(started, error),
    );
    return started;
  }

  async #notLoaded(started: Started, error: unknown): Promise<void> {
    this.#failedStarts += 1;
    this.#lastProblem = error instanceof Error ? error.message : String(error);
    this.#notBeforeMs = this.#deps.clock.now() + backoffMs(this.#failedStarts, restart);
    await this.#end(started);
  }

  #retire(started: Started): void {
    started.retired = true;
    if (this.#current === started) this.#current = undefined;
  }

  async #end(started: Started): Promise<void> {
    this.#all.delete(started);
    if (this.#current === started) this.#current = undefined;
    await started.thread.end();
  }
}
