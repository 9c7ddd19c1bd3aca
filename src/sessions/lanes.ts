import type { TurnAbort } from '../agent/contract.ts';
import { StoreError } from '../core/errors.ts';
import type { TurnEvent } from '../core/turn.ts';
import { slept } from '../lib/clock.ts';
import { LaneScheduler } from '../store/lane-scheduler.ts';
import { claimLane, extendLanes, holdLane, laneWaitMs, releaseLane, stopCounts } from '../store/lanes.ts';
import { isPassing, persist } from '../store/persist.ts';
import { uncountAttempt } from '../store/turns.ts';
import type { Begun, BegunTurn } from './begin.ts';
import { beginTurn } from './begin.ts';
import type { TurnResult } from './commit.ts';
import { commitTurn, suspendTurn, turnLeaseMs } from './commit.ts';
import type { TurnParts } from './turn-parts.ts';
import { turnLog } from './turn-log.ts';
import { runTurn } from './run-turn.ts';

export interface FinishedTurn {
  readonly begun: BegunTurn;
  readonly result: TurnResult;
  readonly ms: number;
}

export interface ConversationOptions extends TurnParts {
  readonly owner: string;
  readonly concurrency: number;
  onFinished?(turn: FinishedTurn): void;
}

/** What is under way, for whoever wants to know it later. No words of anybody are in it. */
export interface RunningNow {
  readonly session: string;
  readonly turn: number;
  readonly account: string;
  readonly chat: string;
  readonly thread?: string;
  readonly sinceMs: number;
  /** Those that it waits for. */
  readonly tools: readonly string[];
}

interface Running {
  readonly begun: BegunTurn;
  readonly startedMs: number;
  /** By the id of their calls. */
  readonly tools: Map<string, string>;
  readonly turn: AbortController;
  readonly halt: AbortController;
  readonly newestInboxId: number;
}

const watchMs = 1000;
const retryMs = 5_000;

/** Runs conversations: one turn at a time in each, many conversations side by side, all of it recoverable. */
export class Conversations {
  readonly #options: ConversationOptions;
  readonly #scheduler: LaneScheduler;
  readonly #tell: ConversationOptions['onEvent'];
  readonly #running = new Map<string, Running>();
  readonly #suspended: BegunTurn[] = [];
  readonly #subscriptions: Disposable[] = [];
  readonly #closing = new AbortController();
  readonly #graceOver = new AbortController();
  readonly #ended = new AbortController();

  constructor(options: ConversationOptions) {
    this.#options = { ...options, onEvent: (begun, event) => this.#onEvent(begun, event) };
    this.#tell = options.onEvent;
    const { store, concurrency, clock, log, policy } = options;
    this.#scheduler = new LaneScheduler({ store, kind: 'turn', concurrency, clock, log, work: (lane) => this.#work(lane), ...(policy.limits !== undefined && { ready: policy.limits.ready }) });
  }

  start(): void {
    const { store } = this.#options;
    this.#subscriptions.push(
      store.listen('stop', (lane) => {
        if (this.#running.has(lane)) void this.#endStopped();
      }),
      store.listen('interrupt', (payload) => this.#overtake(payload)),
    );
    this.#scheduler.start();
    void this.#watch();
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Oldest first. */
  running(): readonly RunningNow[] {
    const shown = ({ begun: { session, turn }, startedMs, tools }: Running): RunningNow => {
      const { account, chatId, threadId } = turn.target;
      return { session: session.id, turn: turn.id, account, chat: chatId, ...(threadId !== undefined && { thread: threadId }), sinceMs: startedMs, tools: [...tools.values()] };
    };
    return [...this.#running.values()].map(shown).toSorted((a, b) => a.sinceMs - b.sinceMs);
  }

  /** Turns under way get `graceMs` to end by themselves; the rest is put down, continues after the next start, and is answered. */
  async stop(graceMs: number): Promise<readonly BegunTurn[]> {
    this.#closing.abort();
    for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    const timer = setTimeout(() => {
      this.#graceOver.abort();
      for (const lane of this.#running.keys()) this.#end(lane, 'suspended');
    }, graceMs);
    await this.#scheduler.stop();
    clearTimeout(timer);
    this.#ended.abort();
    return this.#suspended;
  }

  #onEvent(begun: BegunTurn, event: TurnEvent): void {
    const tools = this.#running.get(begun.claim.lane)?.tools;
    if (event.type === 'tool_started') tools?.set(event.callId, event.name);
    if (event.type === 'tool_finished') tools?.delete(event.callId);
    this.#tell?.(begun, event);
  }

  #end(lane: string, kind: TurnAbort['kind']): void {
    const running = this.#running.get(lane);
    running?.turn.abort({ kind } satisfies TurnAbort);
    if (kind !== 'interrupted') running?.halt.abort({ kind } satisfies TurnAbort);
  }

  /** Ends turns that were asked to stop after they began. The store is asked, for a request may be one that an earlier turn of the lane has obeyed. */
  async #endStopped(): Promise<void> {
    const { store, owner, log } = this.#options;
    try {
      const counts = await store.read((db) => stopCounts(db, owner));
      for (const [lane, { begun }] of this.#running) if ((counts.get(lane) ?? 0) > begun.stops) this.#end(lane, 'stopped');
    } catch (error) {
      log.error({ err: error }, 'turn.stop_not_seen');
    }
  }

  /** The payload is `<lane>#<inbox id>`; a turn is not overtaken by a message that it already answers. */
  #overtake(payload: string): void {
    const at = payload.lastIndexOf('#');
    const lane = payload.slice(0, at);
    const running = this.#running.get(lane);
    if (running !== undefined && Number(payload.slice(at + 1)) > running.newestInboxId) this.#end(lane, 'interrupted');
  }

  async #work(lane: string): Promise<number | undefined> {
    const { store, owner, policy } = this.#options;
    const first = await store.write(async (tx): Promise<Begun> => {
      const held = await policy.limits?.holdBack(tx, lane);
      if (held !== undefined) return held;
      const claim = await claimLane(tx, { lane, owner, leaseMs: turnLeaseMs });
      if (claim === undefined) return { type: 'wait', ms: await laneWaitMs(tx, lane) };
      return beginTurn(tx, claim, policy);
    });
    let begun = first;
    while (begun.type === 'turn') begun = await this.#turn(begun);
    return begun.ms;
  }

  async #turn(begun: BegunTurn): Promise<Begun> {
    const log = turnLog(this.#options.log, begun);
    const running: Running = { begun, startedMs: this.#options.clock.now(), tools: new Map(), turn: new AbortController(), halt: new AbortController(), newestInboxId: begun.inboxIds.at(-1) ?? 0 };
    this.#running.set(begun.claim.lane, running);
    if (this.#graceOver.signal.aborted) this.#end(begun.claim.lane, 'suspended');
    try {
      const result = await runTurn({ ...this.#options, log }, begun, { turn: running.turn.signal, halt: running.halt.signal });
      if (result === undefined) {
        await suspendTurn(this.#options.store, begun);
        this.#suspended.push(begun);
        return { type: 'wait', ms: undefined };
      }
      const next = await this.#commit(begun, result);
      this.#tellEnd({ begun, result, ms: this.#options.clock.now() - running.startedMs });
      // A lane is handed on in the transaction above; during a shutdown nothing new is begun.
      if (next.type === 'turn' && this.#closing.signal.aborted) {
        await suspendTurn(this.#options.store, next, { idle: true });
        return { type: 'wait', ms: undefined };
      }
      return next;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code !== 'lane_lost') return this.#putDown(begun, error);
      log.warn({ lane: begun.claim.lane }, 'turn.lane_lost');
      return { type: 'wait', ms: undefined };
    } finally {
      this.#running.delete(begun.claim.lane);
    }
  }

  /** The turn is stored, and the next one may have begun with it: nothing that goes wrong here may lose that. */
  #tellEnd(turn: FinishedTurn): void {
    for (const tell of [() => turn.result.kept?.done(), () => this.#options.onFinished?.(turn)]) {
      try {
        tell();
      } catch (error) {
        turnLog(this.#options.log, turn.begun).error({ err: error }, 'turn.end_not_told');
      }
    }
  }

  /** The store failed in the middle of a turn. It is tried again from what is stored; only a passing trouble is not held against it. */
  async #putDown(begun: BegunTurn, error: StoreError): Promise<Begun> {
    turnLog(this.#options.log, begun).error({ err: error }, 'turn.store_failed');
    await this.#options.store.write(async (tx) => {
      await holdLane(tx, begun.claim, turnLeaseMs);
      if (isPassing(error)) await uncountAttempt(tx, begun.turn.id);
      await releaseLane(tx, begun.claim, { more: true, readyInMs: retryMs });
    });
    return { type: 'wait', ms: retryMs };
  }

  /** A finished answer is not thrown away because the disk is full for a moment. */
  #commit(begun: BegunTurn, result: TurnResult): Promise<Begun> {
    const { store, clock, log, policy } = this.#options;
    return persist(() => commitTurn(store, begun, result, policy), { clock, log: turnLog(log, begun), signal: this.#graceOver.signal });
  }

  /** Signs of life for the lanes at work, and stop requests whose notification was missed. */
  async #watch(): Promise<void> {
    const { store, clock, owner, log } = this.#options;
    let extendedMs = clock.now();
    while (await slept(clock, watchMs, this.#ended.signal)) {
      if (this.#running.size === 0) continue;
      try {
        await this.#endStopped();
        // The clock may have been set back.
        if (Math.abs(clock.now() - extendedMs) < turnLeaseMs / 3) continue;
        extendedMs = clock.now();
        await store.write((tx) => extendLanes(tx, { owner, lanes: [...this.#running.keys()], leaseMs: turnLeaseMs }));
      } catch (error) {
        log.error({ err: error }, 'turn.watch_failed');
      }
    }
  }
}
