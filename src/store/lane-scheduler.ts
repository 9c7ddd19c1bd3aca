import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { readyLanes } from './lanes.ts';
import type { ReadyLane } from './lanes.ts';
import type { LaneKind } from './schema/conversation-rows.ts';
import type { Reading, Store } from './store.ts';

export interface LaneSchedulerOptions {
  readonly store: Store;
  readonly kind: LaneKind;
  /** How many lanes are worked on at once in this process. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Which lanes could be worked on now; all that nobody holds when left out. */
  ready?(db: Reading, limit: number): Promise<readonly ReadyLane[]>;
  /** Works on the lane until nothing is left, beginning with a write that claims it; answers after how long to look again, if it has to wait. Never rejects for an expected reason. */
  work(lane: string): Promise<number | undefined>;
}

const pollMs = 1000;
/** After an unexpected failure a lane rests, so that a broken store is not hammered. */
const restMs = 1000;

/** Brings lanes with work to `work`, each by one worker at a time: woken by notifications, and by a look once a second for what they missed. */
export class LaneScheduler {
  readonly #options: LaneSchedulerOptions;
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #timers = new Map<string, AbortController>();
  #subscription: Disposable | undefined;
  #poll: Promise<void> | undefined;
  #stopped = new AbortController();
  #idle: (() => void)[] = [];

  constructor(options: LaneSchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    const prefix = `${this.#options.kind}:`;
    const wake = (lane: string): void => {
      if (lane.startsWith(prefix)) this.wake(lane);
    };
    this.#subscription = this.#options.store.listen('lane', wake, 'written');
    this.#poll = this.#pollLoop();
  }

  wake(lane: string): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#working.has(lane)) {
      this.#again.add(lane);
      return;
    }
    this.#timers.get(lane)?.abort();
    this.#waiting.add(lane);
    this.#fill();
  }

  /** Takes nothing new; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#subscription?.[Symbol.dispose]();
    this.#waiting.clear();
    for (const timer of this.#timers.values()) timer.abort();
    await this.#poll;
    if (this.#working.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #fill(): void {
    for (const lane of this.#waiting) {
      if (this.#working.size >= this.#options.concurrency) return;
      this.#waiting.delete(lane);
      this.#working.add(lane);
      void this.#run(lane);
    }
  }

  async #run(lane: string): Promise<void> {
    let waitMs: number | undefined;
    try {
      waitMs = await this.#options.work(lane);
    } catch (error) {
      this.#options.log.error({ err: error, lane }, 'lane.failed');
      waitMs = restMs;
    }
    this.#working.delete(lane);
    if (this.#stopped.signal.aborted) {
      if (this.#working.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    if (this.#again.delete(lane)) this.wake(lane);
    else if (waitMs !== undefined) void this.#wakeLater(lane, waitMs);
    this.#fill();
  }

  async #wakeLater(lane: string, ms: number): Promise<void> {
    const timer = new AbortController();
    this.#timers.get(lane)?.abort();
    this.#timers.set(lane, timer);
    const elapsed = await slept(this.#options.clock, ms, timer.signal);
    if (this.#timers.get(lane) === timer) this.#timers.delete(lane);
    if (elapsed) this.wake(lane);
  }

  async #pollLoop(): Promise<void> {
    const { store, kind, clock, log } = this.#options;
    const ready = (db: Reading, limit: number): Promise<readonly ReadyLane[]> => this.#options.ready?.(db, limit) ?? readyLanes(db, kind, limit);
    while (!this.#stopped.signal.aborted) {
      try {
        const room = this.#options.concurrency - this.#working.size - this.#waiting.size;
        if (room > 0) for (const { lane } of await store.read((db) => ready(db, room))) this.wake(lane);
      } catch (error) {
        log.error({ err: error, kind }, 'lane.poll_failed');
      }
      await slept(clock, pollMs, this.#stopped.signal);
    }
  }
}
