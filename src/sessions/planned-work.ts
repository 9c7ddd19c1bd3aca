import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Channel, Store } from '../store/store.ts';

export interface PlannedWorkDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where it is told that something was planned; also the first word of what is logged. */
  readonly channel: Channel;
  readonly atOnce: number;
  /** From being told until looking. */
  readonly settleMs?: number;
  /** Takes the next piece and does it; false when there is none. What it throws is logged, and it is asked again later. */
  perform(signal: AbortSignal): Promise<boolean>;
  /** Gives back what was taken up and not done. */
  release(): Promise<void>;
}

/** Another process may have planned something without being heard. */
const lookEveryMs = 15_000;

/** Does what stands in the store to be done, beside everything else: a few pieces at once, at once when something is planned. */
export class PlannedWork {
  readonly #deps: PlannedWorkDeps;
  readonly #stop = new AbortController();
  #wake = Promise.withResolvers<void>();
  #running: Promise<unknown> | undefined;

  constructor(deps: PlannedWorkDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be something to do. */
  wake(): void {
    this.#wake.resolve();
  }

  /** Cuts off what is under way; it is done after the next start. */
  async stop(): Promise<void> {
    const { channel, log } = this.#deps;
    this.#stop.abort(new Error('the gateway is shutting down'));
    this.wake();
    await this.#running;
    try {
      await this.#deps.release();
    } catch (error) {
      log.warn({ err: error }, `${channel}.not_released`);
    }
  }

  async #run(): Promise<void> {
    const { store, channel, atOnce } = this.#deps;
    using _planned = store.listen(channel, () => this.wake());
    await Promise.all(Array.from({ length: atOnce }, () => this.#work()));
  }

  async #work(): Promise<void> {
    const { clock, log, channel, settleMs = 0 } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const woken = this.#wake;
      try {
        if (await this.#deps.perform(signal)) continue;
      } catch (error) {
        log.error({ err: error }, `${channel}.failed`);
      }
      const rest = new AbortController();
      const isTold = await Promise.race([woken.promise.then(() => true), slept(clock, lookEveryMs, AbortSignal.any([rest.signal, signal])).then(() => false)]);
      rest.abort();
      if (this.#wake === woken) this.#wake = Promise.withResolvers<void>();
      if (isTold && settleMs > 0) await slept(clock, settleMs, signal);
    }
  }
}
