import type { TurnAbort } from '../agent/contract.ts';
import { StoreError } from '../core/errors.ts';
import type { TurnEvent } from '../core/turn.ts';
import { slept } from '../lib/clock.ts';
import { LaneScheduler } from '../store/lanes/lane-scheduler.ts';
import { claimLane, extendLanes, holdLane, laneStates, laneWaitMs, reclaimLane, releaseLane } from '../store/lanes/lanes.ts';
import type { LaneState } from '../store/lanes/lanes.ts';
import { isPassing, persist } from '../store/persist.ts';
import type { Writing } from '../store/store.ts';
import { uncountAttempt } from '../store/sessions/turns.ts';
import type { Begun, BegunTurn } from './begin.ts';
import { beginTurn } from './begin.ts';
import type { TurnResult } from './commit.ts';
import { commitTurn, suspendTurn, turnLeaseMs } from './commit.ts';
import { isOvertaken } from './is-overtaken.ts';
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
  /** Later messages may overtake the turn. */
  sinceInboxId: number;
  /** Until then, by our clock, nobody else can have taken the lane. */
  heldUntilMs: number;
}

const watchMs = 1000;
/** So long before somebody else may take a lane, work on it has ended here. */
const marginMs = 5_000;
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
  #extendedMs = 0;

  constructor(options: ConversationOptions) {
    this.#options = { ...options, onEvent: (begun, event) => this.#onEvent(begun, event) };
    this.#tell = options.onEvent;
    const { store, concurrency, clock, log, policy } = options;
    this.#scheduler = new LaneScheduler({ store, kind: 'turn', concurrency, clock, log, work: (lane) => this.#work(lane), ...(policy.limits !== undefined && { ready: policy.limits.ready }) });
  }

  start(): void {
    const { store } = this.#options;
    const lookAt = (lane: string): void => {
      if (this.#running.has(lane)) void this.#look();
    };
    this.#subscriptions.push(store.listen('stop', lookAt), store.listen('interrupt', lookAt));
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

  /** From now on no turn begins; those under way go on. */
  close(): void {
    this.#closing.abort();
  }

  /** Turns under way get `graceMs` to end by themselves; the rest is put down, continues after the next start, and is answered. */
  async stop(graceMs: number): Promise<readonly BegunTurn[]> {
    this.close();
    for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    const timer = setTimeout(() => {
      this.#graceOver.abort();
      for (const running of this.#running.values()) this.#end(running, 'suspended');
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

  #end({ turn, halt }: Running, kind: TurnAbort['kind']): void {
    turn.abort({ kind } satisfies TurnAbort);
    if (kind !== 'interrupted') halt.abort({ kind } satisfies TurnAbort);
  }

  /** Asks the store about the lanes at work and ends turns by what it says. False when it does not answer. */
  async #look(): Promise<boolean> {
    const { store, clock, log } = this.#options;
    const askedMs = clock.now();
    const asked = [...this.#running];
    try {
      const states = await store.read((db) => laneStates(db, asked.map(([lane]) => lane)));
      for (const [lane, running] of asked) await this.#judge(running, states.get(lane), askedMs);
      return true;
    } catch (error) {
      log.error({ err: error }, 'turn.watch_failed');
      return false;
    }
  }

  /** Ends a turn whose lane somebody else has taken over, that was asked to stop after it began, or that a newer message overtakes. */
  async #judge(running: Running, state: LaneState | undefined, askedMs: number): Promise<void> {
    const { begun, turn } = running;
    if (state?.owner !== begun.claim.owner || state.fence !== begun.claim.fence) return this.#end(running, 'suspended');
    running.heldUntilMs = askedMs + state.leftMs;
    // A request may be one that an earlier turn of the lane has obeyed.
    if (state.stops > begun.stops) return this.#end(running, 'stopped');
    if (turn.signal.aborted || state.newestWaiting <= running.sinceInboxId) return undefined;
    const { store, policy } = this.#options;
    if (await store.read((db) => isOvertaken(db, begun, { sinceId: running.sinceInboxId, policy }))) this.#end(running, 'interrupted');
    else running.sinceInboxId = Math.max(running.sinceInboxId, state.newestWaiting);
  }

  async #work(lane: string): Promise<number | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    const { store, owner, policy } = this.#options;
    const first = await store.write(async (tx): Promise<Begun> => {
      const held = await policy.limits?.holdBack(tx, lane);
      if (held !== undefined) return held;
      const request = { lane, owner, leaseMs: turnLeaseMs };
      // One that is ours already although nobody works on it was claimed by a write whose confirmation was lost.
      const claim = (await claimLane(tx, request)) ?? (await reclaimLane(tx, request));
      if (claim === undefined) return { type: 'wait', ms: await laneWaitMs(tx, lane) };
      return beginTurn(tx, claim, policy);
    });
    let begun = first;
    while (begun.type === 'turn') begun = await this.#turn(begun);
    return begun.ms;
  }

  async #turn(begun: BegunTurn): Promise<Begun> {
    const log = turnLog(this.#options.log, begun);
    const startedMs = this.#options.clock.now();
    const running: Running = { begun, startedMs, tools: new Map(), turn: new AbortController(), halt: new AbortController(), sinceInboxId: begun.newestInboxId, heldUntilMs: startedMs + turnLeaseMs };
    this.#running.set(begun.claim.lane, running);
    if (this.#graceOver.signal.aborted) this.#end(running, 'suspended');
    // Something may have been said before it was taken up again.
    else if (begun.resumed) void this.#look();
    try {
      const result = await runTurn({ ...this.#options, log }, begun, { turn: running.turn.signal, halt: running.halt.signal, patience: this.#graceOver.signal });
      if (result === undefined) {
        const cut = this.#closing.signal.aborted;
        await suspendTurn(this.#options.store, begun, { cut });
        if (cut) this.#suspended.push(begun);
        return { type: 'wait', ms: undefined };
      }
      const next = await this.#commit(begun, result);
      this.#tellEnd({ begun, result, ms: this.#options.clock.now() - running.startedMs });
      // A lane is handed on in the transaction above; during a shutdown nothing new is begun.
      if (next.type === 'turn' && this.#closing.signal.aborted) {
        await suspendTurn(this.#options.store, next, { cut: false });
        return { type: 'wait', ms: undefined };
      }
      return next;
    } catch (error) {
      return this.#putDown(begun, error);
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

  /** The store failed in the middle of a turn. It is tried again from what is stored; only a passing trouble is not held against it. What another has taken over is his. */
  async #putDown(begun: BegunTurn, error: unknown): Promise<Begun> {
    if (!(error instanceof StoreError)) throw error;
    const { store, clock } = this.#options;
    const log = turnLog(this.#options.log, begun);
    if (error.code === 'lane_lost') {
      log.warn({ lane: begun.claim.lane }, 'turn.lane_lost');
      return { type: 'wait', ms: undefined };
    }
    log.error({ err: error }, 'turn.store_failed');
    const release = async (tx: Writing): Promise<void> => {
      await holdLane(tx, begun.claim, turnLeaseMs);
      if (isPassing(error)) await uncountAttempt(tx, begun.turn.id);
      await releaseLane(tx, begun.claim, { more: true, readyInMs: retryMs });
    };
    try {
      await persist(() => store.write(release), { clock, log, signal: this.#graceOver.signal });
    } catch (later) {
      // Somebody else has it by now, or it was given back although the confirmation of that was lost.
      if (!(later instanceof StoreError && later.code === 'lane_lost')) throw later;
    }
    return { type: 'wait', ms: retryMs };
  }

  /** A finished answer is not thrown away because the disk is full for a moment. */
  #commit(begun: BegunTurn, result: TurnResult): Promise<Begun> {
    const { store, clock, log, policy } = this.#options;
    return persist(() => commitTurn(store, begun, result, policy), { clock, log: turnLog(log, begun), signal: this.#graceOver.signal });
  }

  /** Looks every second: for whom notifications have missed, and to give signs of life. Work on lanes that may be somebody else's by now ends, also while the store does not answer. */
  async #watch(): Promise<void> {
    let looking = false;
    const look = async (): Promise<void> => {
      looking = true;
      if (await this.#look()) await this.#extend();
      else this.#endUnsure();
      looking = false;
    };
    while (await slept(this.#options.clock, watchMs, this.#ended.signal)) {
      if (looking) this.#endUnsure();
      else if (this.#running.size > 0) void look();
    }
  }

  /** Gives signs of life once a third of a lease is over. */
  async #extend(): Promise<void> {
    const { store, clock, owner, log } = this.#options;
    const nowMs = clock.now();
    const isDue = ({ heldUntilMs }: Running): boolean => heldUntilMs - nowMs < (turnLeaseMs * 2) / 3;
    // The clock may have been set back.
    if (Math.abs(nowMs - this.#extendedMs) < retryMs || ![...this.#running.values()].some(isDue)) return;
    this.#extendedMs = nowMs;
    try {
      await store.write((tx) => extendLanes(tx, { owner, lanes: [...this.#running.keys()], leaseMs: turnLeaseMs }));
    } catch (error) {
      log.error({ err: error }, 'turn.watch_failed');
    }
  }

  #endUnsure(): void {
    const nowMs = this.#options.clock.now();
    for (const running of this.#running.values()) {
      const leftMs = running.heldUntilMs - nowMs;
      // The clock may have been set back.
      if (running.turn.signal.aborted || (leftMs >= marginMs && leftMs <= turnLeaseMs + marginMs)) continue;
      turnLog(this.#options.log, running.begun).warn({ lane: running.begun.claim.lane }, 'turn.lane_unsure');
      this.#end(running, 'suspended');
    }
  }
}
