import { backoffMs } from '../../lib/backoff.ts';
import { AcpProcess, AgentGone } from './acp-process.ts';
import type { AcpProcessDeps } from './acp-process.ts';

const waits = { baseMs: 1_000, capMs: 60_000 };

/** Keeps one run of an agent's program for all who need it, and does not start the next one too soon after the last has failed. */
export class AcpHost implements AsyncDisposable {
  readonly #deps: AcpProcessDeps;
  /** Whatever has not ended yet. Only the current one takes new turns. */
  readonly #running = new Set<AcpProcess>();
  #current: AcpProcess | undefined;
  #starting: Promise<AcpProcess> | undefined;
  #failures = 0;
  #notBeforeMs = 0;
  #isClosed = false;

  constructor(deps: AcpProcessDeps) {
    this.#deps = deps;
  }

  /** How long the next start should be put off, and how often it has gone wrong. */
  get wait(): { readonly ms: number; readonly failures: number } {
    this.#forgetDead();
    const isUp = this.#current !== undefined || this.#starting !== undefined;
    return { ms: isUp ? 0 : Math.max(0, this.#notBeforeMs - this.#deps.clock.now()), failures: this.#failures };
  }

  /** The run that takes new turns; started when there is none. Rejects with `AgentGone`. The caller gives it back by `release`. */
  async acquire(): Promise<AcpProcess> {
    this.#forgetDead();
    if (this.#isClosed) throw new AgentGone('start', 'the gateway is stopping');
    if (this.#current === undefined) this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    const process = this.#current ?? (await this.#starting);
    if (process === undefined) throw new AgentGone('start', 'the agent was not started');
    process.turns += 1;
    return process;
  }

  release(process: AcpProcess): void {
    process.turns -= 1;
    this.#endIdle(process);
  }

  /** It has done what it should: what went wrong before is forgiven. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Takes no new turns any more, and is ended with its last one. */
  retire(process: AcpProcess, why: 'failed' | 'unresponsive' | 'replaced'): void {
    if (this.#current === process) {
      this.#current = undefined;
      if (why === 'failed') this.#fail();
    }
    this.#endIdle(process);
  }

  /** Starts nothing any more, and lets what runs come to its end. */
  windDown(): void {
    this.#isClosed = true;
    if (this.#current !== undefined) this.retire(this.#current, 'replaced');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([this.#starting]);
    await Promise.all([...this.#running].map((process) => process[Symbol.asyncDispose]()));
  }

  /** Nobody waits for its end but whoever closes the host. */
  #endIdle(process: AcpProcess): void {
    if (process.turns > 0 || process === this.#current) return;
    process[Symbol.asyncDispose]().catch((error: unknown) => this.#deps.log.error({ err: error }, 'acp.not_ended'));
  }

  async #start(): Promise<AcpProcess> {
    try {
      const process = await AcpProcess.start(this.#deps);
      this.#running.add(process);
      this.#current = process;
      void this.#follow(process);
      return process;
    } catch (error) {
      this.#fail();
      throw error;
    }
  }

  async #follow(process: AcpProcess): Promise<void> {
    const how = await process.ended;
    this.#running.delete(process);
    if (!this.#isClosed) this.#deps.log.info({ how, turns: process.turns }, 'acp.ended');
    this.#forgetDead();
  }

  /** One that ends by itself while nobody needs it has not failed. */
  #forgetDead(): void {
    const process = this.#current;
    if (process === undefined || !process.isOver) return;
    this.#current = undefined;
    if (process.turns > 0) this.#fail();
  }

  #fail(): void {
    this.#failures += 1;
    this.#notBeforeMs = this.#deps.clock.now() + backoffMs(this.#failures, waits);
  }
}
