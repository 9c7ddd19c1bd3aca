import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { LaneKind } from '../schema/conversation-rows.ts';
import type { Reading, Store } from '../store.ts';
import { readyLanes } from './lanes.ts';
import type { ReadyLane } from './lanes.ts';

export interface LaneSchedulerOptions {
  readonly store: Store;
  readonly kind: LaneKind;
  /** How many lanes are worked on at once in this process; where there are groups, of each of them. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whose places a lane takes up: lanes of one group never wait for those of another. All are of one group when left out. */
  groupOf?(lane: string): string;
  /** Which lanes could be worked on now; all that nobody holds when left out. Those of a group that is full would only wait here. */
  ready?(db: Reading, limit: number, isFull: (group: string) => boolean): Promise<readonly ReadyLane[]>;
  /** Works on the lane until nothing is left, beginning with a write that claims it; answers after how long to look again, if it has to wait. Never rejects for an expected reason. */
  work(lane: string): Promise<number | undefined>;
}

const pollMs = 1000;
/** After an unexpected failure a lane rests, so that a broken store is not hammered. */
const restMs = 1000;

interface Group {
  /** First come, first served. */
  readonly waiting: Set<string>;
  working: number;
}

const onlyGroup = '';

/** Brings lanes with work to `work`, each by one worker at a time: woken by notifications, and by a look once a second for what they missed. */
export class LaneScheduler {
  readonly #options: LaneSchedulerOptions;
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #groups = new Map<string, Group>();
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
    const group = this.#groupOf(lane);
    group.waiting.add(lane);
    this.#fill(group);
  }

  /** Takes nothing new; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#subscription?.[Symbol.dispose]();
    for (const { waiting } of this.#groups.values()) waiting.clear();
    for (const timer of this.#timers.values()) timer.abort();
    await this.#poll;
    if (this.#working.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #groupOf(lane: string): Group {
    const name = this.#options.groupOf?.(lane) ?? onlyGroup;
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const group: Group = { waiting: new Set(), working: 0 };
    this.#groups.set(name, group);
    return group;
  }

  #room(name: string): number {
    const group = this.#groups.get(name);
    return this.#options.concurrency - (group === undefined ? 0 : group.working + group.waiting.size);
  }

  #fill(group: Group): void {
    for (const lane of group.waiting) {
      if (group.working >= this.#options.concurrency) return;
      group.waiting.delete(lane);
      group.working += 1;
      this.#working.add(lane);
      void this.#run(lane, group);
    }
  }

  async #run(lane: string, group: Group): Promise<void> {
    let waitMs: number | undefined;
    try {
      waitMs = await this.#options.work(lane);
    } catch (error) {
      this.#options.log.error({ err: error, lane }, 'lane.failed');
      waitMs = restMs;
    }
    this.#working.delete(lane);
    group.working -= 1;
    if (this.#stopped.signal.aborted) {
      if (this.#working.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    if (this.#again.delete(lane)) this.wake(lane);
    else if (waitMs !== undefined) void this.#wakeLater(lane, waitMs);
    this.#fill(group);
  }

  async #wakeLater(lane: string, ms: number): Promise<void> {
    const timer = new AbortController();
    this.#timers.get(lane)?.abort();
    this.#timers.set(lane, timer);
    const elapsed = await slept(this.#options.clock, ms, timer.signal);
    if (this.#timers.get(lane) === timer) this.#timers.delete(lane);
    if (elapsed) this.wake(lane);
  }

  async #look(): Promise<void> {
    const { store, kind, log, concurrency, groupOf } = this.#options;
    const isFull = (group: string): boolean => this.#room(group) <= 0;
    const room = groupOf === undefined ? this.#room(onlyGroup) : concurrency;
    if (room <= 0) return;
    try {
      const ready = await store.read((db) => this.#options.ready?.(db, room, isFull) ?? readyLanes(db, kind, room));
      for (const { lane } of ready) this.wake(lane);
    } catch (error) {
      log.error({ err: error, kind }, 'lane.poll_failed');
    }
  }

  async #pollLoop(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#look();
      await slept(this.#options.clock, pollMs, this.#stopped.signal);
    }
  }
}
