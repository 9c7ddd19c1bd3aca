import { PlatformError } from '../core/errors.ts';
import { platformOf } from '../core/ids.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { LaneScheduler } from '../store/lanes/lane-scheduler.ts';
import { claimLane, expediteLanes, holdLane, laneWaitMs, outLane, reclaimLane, releaseLane } from '../store/lanes/lanes.ts';
import type { Claim, ReadyLane } from '../store/lanes/lanes.ts';
import { accountOfLane, overdueOutLanes, readyOutLanes } from '../store/lanes/out-lanes.ts';
import { markAlive, markDead } from '../store/messages/gates.ts';
import { expediteDeliveries, headOfLane, markSending, sentMessageId, settleDelivery } from '../store/messages/outbox.ts';
import type { Attempt, OutboxItem } from '../store/messages/outbox.ts';
import { persist } from '../store/persist.ts';
import type { Reading, Store, Writing } from '../store/store.ts';
import { callAdapter } from './call-adapter.ts';
import type { Connections } from './connections.ts';
import type { DeliveryGate } from './gate.ts';
import { settlementOf, settlementOfSent } from './settlement.ts';
import { afterError, afterUnknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface DeliveryOutcome {
  readonly account: string;
  /** Its number in the outbox. */
  readonly delivery: number;
  readonly attempt: number;
  /** The turn that said it, if one did. */
  readonly turnId: number | null;
  readonly outcome: 'sent' | 'failed' | 'retry' | 'repeat';
  readonly code?: string;
  readonly callMs: number;
}

export interface DispatcherOptions {
  readonly store: Store;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connections: Connections;
  readonly gate: DeliveryGate;
  /** Older deliveries are given up visibly. */
  readonly maxAgeMs: number;
  readonly sendTimeoutMs: number;
  /** Takes secrets out of what is kept and shown. */
  redact(text: string): string;
  readonly onOutcome?: (outcome: DeliveryOutcome) => void;
}

const leaseMs = 60_000;
/** Chats of one account that are served at once: whatever an account does, others have places of their own. */
const concurrency = 64;
/** Rows that are given up untried in one transaction, so that others may write in between. */
const mostUntried = 50;
const overdueEveryMs = 60_000;
/** Chats that are woken together; the others follow by and by. */
const mostAtOnce = 1000;

/** What to do with a lane that is held: send its head, or leave it, which has been given back, for so long. */
type Next = { readonly type: 'send'; readonly item: OutboxItem } | { readonly type: 'wait'; readonly ms: number | undefined };

/** Whether the lane has just been claimed: then a head that is being sent is somebody's who has ended. */
type Hold = 'claimed' | 'held';

type Begun = { readonly claim: Claim; readonly next: Next } | { readonly claim: undefined; readonly waitMs: number | undefined };

const causeOf = ({ id, attempts, turnId, delivery }: OutboxItem): Pick<DeliveryOutcome, 'account' | 'delivery' | 'attempt' | 'turnId'> => ({ account: delivery.message.target.account, delivery: id, attempt: attempts, turnId });

/** The only way out: takes deliveries in order per chat, sends each through its account, and records what became of it. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #scheduler: LaneScheduler;
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  /** Rows that the platform was called for and whose outcome is not recorded yet. */
  readonly #called = new Set<number>();
  /** When each account has last delivered something. */
  readonly #sentAtMs = new Map<string, number>();
  #overdue: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { store, clock, log } = options;
    this.#scheduler = new LaneScheduler({ store, kind: 'out', concurrency, clock, log, groupOf: accountOfLane, ready: (db, limit, isFull) => this.#ready(db, limit, isFull), work: (lane) => this.#work(lane) });
  }

  start(): void {
    this.#scheduler.start();
    this.#overdue = this.#overdueLoop();
  }

  /** Lets calls under way end; whatever hangs longer than `graceMs` is cut off and counts as unknown. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    await this.#scheduler.stop();
    await this.#overdue;
    clearTimeout(timer);
  }

  /** What has waited for this account's connection goes out now. */
  async connected(account: string): Promise<void> {
    const { store } = this.#options;
    await store.write(async (tx) => {
      await expediteDeliveries(tx, account);
      await expediteLanes(tx, outLane(account, ''));
    });
    for (const { lane } of await store.read((db) => readyOutLanes(db, [account], mostAtOnce))) this.#scheduler.wake(lane);
  }

  /** What this gateway has no connection for is left to others that share the database. */
  #ready(db: Reading, limit: number, isFull: (account: string) => boolean): Promise<readonly ReadyLane[]> {
    const { connections } = this.#options;
    const accounts = connections.names().filter((account) => connections.adapter(account) !== undefined && !isFull(account));
    return readyOutLanes(db, accounts, limit);
  }

  /** Deliveries of accounts that nobody has any more are given up in time, too. */
  async #overdueLoop(): Promise<void> {
    const { store, clock, log, maxAgeMs } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        for (const lane of await store.read((db) => overdueOutLanes(db, maxAgeMs, mostAtOnce))) this.#scheduler.wake(lane);
      } catch (error) {
        log.error({ err: error }, 'delivery.overdue_not_looked');
      }
      await slept(clock, overdueEveryMs, this.#stopping.signal);
    }
  }

  async #work(lane: string): Promise<number | undefined> {
    if (this.#options.connections.adapter(accountOfLane(lane)) === undefined && !(await this.#isOverdue(lane))) return undefined;
    const begun = await this.#begin(lane);
    if (begun.claim === undefined) return begun.waitMs;
    let next = begun.next;
    while (next.type === 'send') next = await this.#send(begun.claim, next.item);
    return next.ms;
  }

  async #isOverdue(lane: string): Promise<boolean> {
    const head = await this.#options.store.read((db) => headOfLane(db, lane));
    return head !== undefined && head.ageMs > this.#options.maxAgeMs;
  }

  /** Claims the lane. When nobody knows whether that was written, it is asked for again, as whoever may have it. */
  #begin(lane: string): Promise<Begun> {
    const { store, owner, clock, log } = this.#options;
    let tries = 0;
    const write = (): Promise<Begun> => {
      tries += 1;
      const mayBeOurs = tries > 1;
      return store.write(async (tx): Promise<Begun> => {
        const ours = mayBeOurs ? await reclaimLane(tx, { lane, owner, leaseMs }) : undefined;
        const claim = ours ?? (await claimLane(tx, { lane, owner, leaseMs }));
        if (claim === undefined) return { claim, waitMs: await laneWaitMs(tx, lane) };
        return { claim, next: await this.#next(tx, claim, ours === undefined ? 'claimed' : 'held') };
      });
    };
    return persist(write, { clock, log, signal: this.#stopping.signal });
  }

  /** Takes up the head of a lane or gives the lane back; in the transaction that settled the one before. */
  async #next(tx: Writing, claim: Claim, hold: Hold): Promise<Next> {
    for (let untried = 0; untried < mostUntried; untried += 1) {
      const head = await headOfLane(tx, claim.lane);
      if (head === undefined) {
        await releaseLane(tx, claim, { more: false });
        return { type: 'wait', ms: undefined };
      }
      const next = await this.#takeUp(tx, claim, { item: head, hold });
      if (next !== undefined) return next;
    }
    await releaseLane(tx, claim, { more: true });
    return { type: 'wait', ms: undefined };
  }

  /** Undefined when the item was settled untried, or is to be looked at again. */
  async #takeUp(tx: Writing, claim: Claim, head: { item: OutboxItem; hold: Hold }): Promise<Next | undefined> {
    const { item } = head;
    if (item.ageMs > this.#options.maxAgeMs) {
      await this.#record(tx, item, { type: 'fail', deadTarget: false, reason: 'expired: it could not be delivered in time' }, { atMs: this.#options.clock.now(), outcome: 'expired' });
      return undefined;
    }
    if (item.state === 'sending' && head.hold === 'held' && !this.#called.has(item.id)) {
      // It was taken up under this hold by a commit whose confirmation was lost, and the platform was not called.
      await settleDelivery(tx, item.id, { state: item.repeated ? 'unknown' : 'pending', log: item.log, uncounted: true });
      return undefined;
    }
    const { target } = item.delivery.message;
    if (this.#options.connections.adapter(target.account) === undefined || this.#abort.signal.aborted) {
      await releaseLane(tx, claim, { more: true });
      return { type: 'wait', ms: undefined };
    }
    const waitMs = Math.max(item.waitMs, this.#options.gate.waitMs(target));
    if (waitMs > 0) {
      await releaseLane(tx, claim, { more: true, readyInMs: waitMs });
      return { type: 'wait', ms: waitMs };
    }
    if (item.delivery.changes !== undefined) return this.#change(tx, { item, of: item.delivery.changes });
    if (item.state === 'sending') return this.#recover(tx, item);
    await markSending(tx, item.id);
    return { type: 'send', item: { ...item, attempts: item.attempts + 1 } };
  }

  /** Everything before it in the lane is settled, so the message that it changes is there or will never be. */
  async #change(tx: Writing, change: { item: OutboxItem; of: string }): Promise<Next | undefined> {
    const { item } = change;
    const messageId = await sentMessageId(tx, change.of);
    if (messageId === undefined || this.#options.connections.adapter(item.delivery.message.target.account)?.edits === undefined) {
      await settleDelivery(tx, item.id, { state: 'cancelled', log: [...item.log, { atMs: this.#options.clock.now(), outcome: 'nothing to change' }] });
      return undefined;
    }
    await markSending(tx, item.id);
    return { type: 'send', item: { ...item, attempts: item.attempts + 1, delivery: { ...item.delivery, finishes: messageId } } };
  }

  /** The process ended between the call and its result: nobody knows whether it arrived. */
  async #recover(tx: Writing, item: OutboxItem): Promise<undefined> {
    const { target } = item.delivery.message;
    const platform = this.#platform(target.account);
    const adapter = this.#options.connections.adapter(target.account);
    const safe = adapter?.repeatsAreSafe === true && item.untouchedMs < (adapter.repeatsAreSafeForMs ?? Infinity);
    const verdict = afterUnknown(item, platform, safe);
    await this.#record(tx, item, verdict, { atMs: this.#options.clock.now(), outcome: 'unknown', detail: 'the process ended before the answer came' });
  }

  async #send(claim: Claim, item: OutboxItem): Promise<Next> {
    const { clock, connections, gate } = this.#options;
    const { account } = item.delivery.message.target;
    const startedMs = clock.now();
    // A typing sign or a preview may have met a rate limit since the row was taken up.
    const waitMs = gate.waitMs(item.delivery.message.target);
    if (waitMs > 0) return this.#settle(claim, item, (tx) => settleDelivery(tx, item.id, { state: item.state, log: item.log, delayMs: waitMs, uncounted: true }));
    const adapter = connections.adapter(account);
    this.#called.add(item.id);
    const result = adapter === undefined ? new PlatformError('unavailable', 'the account has no connection') : await callAdapter(adapter, item, { timeoutMs: this.#options.sendTimeoutMs, signal: this.#abort.signal, log: this.#options.log });
    const callMs = clock.now() - startedMs;
    if (result instanceof PlatformError) {
      const before = item.log.at(-1);
      const othersGotThrough = before !== undefined && before.outcome !== 'sent' && (this.#sentAtMs.get(account) ?? -Infinity) >= startedMs - item.untouchedMs;
      return this.#failed(claim, item, { error: result, callMs, othersGotThrough, safe: adapter?.repeatsAreSafe === true });
    }
    this.#sentAtMs.set(account, clock.now());
    connections.succeeded(account);
    this.#options.onOutcome?.({ ...causeOf(item), outcome: 'sent', callMs });
    return this.#settle(claim, item, (tx) => this.#sent(tx, item, result));
  }

  /** What became of a call is not forgotten because the disk is full for a moment. */
  async #settle(claim: Claim, item: OutboxItem, record: (tx: Writing) => Promise<void>): Promise<Next> {
    const { store, clock, log } = this.#options;
    const settleAndGoOn = async (tx: Writing): Promise<Next> => {
      await holdLane(tx, claim, leaseMs);
      await record(tx);
      return this.#next(tx, claim, 'held');
    };
    const write = (): Promise<Next> => store.write(settleAndGoOn, { patient: true });
    const next = await persist(write, { clock, log, signal: this.#abort.signal });
    this.#called.delete(item.id);
    return next;
  }

  async #sent(tx: Writing, item: OutboxItem, messageIds: readonly string[]): Promise<void> {
    const { target } = item.delivery.message;
    await settleDelivery(tx, item.id, settlementOfSent(item, { atMs: this.#options.clock.now(), messageIds }));
    await markAlive(tx, target.account, target.chatId);
  }

  async #failed(claim: Claim, item: OutboxItem, failure: { error: PlatformError; callMs: number; othersGotThrough: boolean; safe: boolean }): Promise<Next> {
    const { clock, log, gate } = this.#options;
    const { target } = item.delivery.message;
    const { error } = failure;
    const gateMs = error.code === 'rate_limited' ? await gate.close(target, error) : undefined;
    const platform = this.#platform(target.account);
    const verdict = afterError(item, new PlatformError(error.code, this.#options.redact(error.message), error.facts), { platform, repeatsAreSafe: failure.safe, othersGotThrough: failure.othersGotThrough, ...(gateMs !== undefined && { gateMs }) });
    const outcome = verdict.type === 'fail' ? 'failed' : verdict.type === 'repeat' ? 'repeat' : 'retry';
    log.warn({ delivery: item.id, account: target.account, chat: target.chatId, attempt: item.attempts, code: error.code, err: error, outcome }, 'delivery.not_sent');
    this.#options.onOutcome?.({ ...causeOf(item), outcome, code: error.code, callMs: failure.callMs });
    return this.#settle(claim, item, (tx) => this.#record(tx, item, verdict, { atMs: clock.now(), outcome: error.code, detail: this.#options.redact(error.message) }));
  }

  async #record(tx: Writing, item: OutboxItem, verdict: Verdict, attempt: Attempt): Promise<void> {
    const { target } = item.delivery.message;
    if (verdict.type === 'fail' && verdict.deadTarget) await markDead(tx, { account: target.account, chatId: target.chatId, reason: verdict.reason });
    await settleDelivery(tx, item.id, settlementOf(item, verdict, attempt));
  }

  #platform(account: string): Platform {
    const platform = this.#options.connections.platform(account);
    if (platform === undefined) throw new Error(`no platform called ${platformOf(account)}`);
    return platform;
  }
}
