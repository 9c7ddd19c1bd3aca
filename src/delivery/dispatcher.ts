import { PlatformError } from '../core/errors.ts';
import { platformOf } from '../core/ids.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { timeLimit } from '../lib/time-limit.ts';
import type { Adapter, Platform } from '../platforms/contract.ts';
import { markAlive, markDead } from '../store/gates.ts';
import { LaneScheduler } from '../store/lane-scheduler.ts';
import { claimLane, expediteLanes, holdLane, laneWaitMs, outLane, releaseLane } from '../store/lanes.ts';
import type { Claim } from '../store/lanes.ts';
import { expediteDeliveries, headOfLane, markSending, sentMessageId, settleDelivery } from '../store/outbox.ts';
import type { Attempt, Delivery, OutboxItem, Settlement } from '../store/outbox.ts';
import { persist } from '../store/persist.ts';
import type { Store, Writing } from '../store/store.ts';
import type { Connections } from './connections.ts';
import type { DeliveryGate } from './gate.ts';
import { numbered } from './question-message.ts';
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
/** An account without a connection is looked at again after this, or as soon as it connects. */
const absentMs = 30_000;
const concurrency = 64;

/** What to do with the head of a lane that has just been claimed. */
type Next = { readonly type: 'send'; readonly item: OutboxItem } | { readonly type: 'wait'; readonly ms: number | undefined };

const causeOf = ({ id, attempts, turnId, delivery }: OutboxItem): Pick<DeliveryOutcome, 'account' | 'delivery' | 'attempt' | 'turnId'> => ({ account: delivery.message.target.account, delivery: id, attempt: attempts, turnId });

/** The only way out: takes deliveries in order per chat, sends each through its account, and records what became of it. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #scheduler: LaneScheduler;
  readonly #abort = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#scheduler = new LaneScheduler({ store: options.store, kind: 'out', concurrency, clock: options.clock, log: options.log, work: (lane) => this.#work(lane) });
  }

  start(): void {
    this.#scheduler.start();
  }

  /** Lets calls under way end; whatever hangs longer than `graceMs` is cut off and counts as unknown. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    await this.#scheduler.stop();
    clearTimeout(timer);
  }

  /** What has waited for this account's connection goes out now. */
  async connected(account: string): Promise<void> {
    await this.#options.store.write(async (tx) => {
      await expediteDeliveries(tx, account);
      await expediteLanes(tx, outLane(account, ''));
    });
  }

  async #work(lane: string): Promise<number | undefined> {
    const { store, owner } = this.#options;
    const begun = await store.write(async (tx) => {
      const claim = await claimLane(tx, { lane, owner, leaseMs });
      if (claim === undefined) return { waitMs: await laneWaitMs(tx, lane) };
      return { claim, next: await this.#next(tx, claim) };
    });
    if (begun.claim === undefined) return begun.waitMs;
    let next = begun.next;
    while (next.type === 'send') next = await this.#send(begun.claim, next.item);
    return next.ms;
  }

  /** Takes up the head of a lane or gives the lane back; in the transaction that settled the one before. */
  async #next(tx: Writing, claim: Claim): Promise<Next> {
    const item = await headOfLane(tx, claim.lane);
    if (item === undefined) {
      await releaseLane(tx, claim, { more: false });
      return { type: 'wait', ms: undefined };
    }
    if (this.#options.clock.now() - item.createdAtMs > this.#options.maxAgeMs) {
      await this.#record(tx, item, { type: 'fail', deadTarget: false, reason: 'expired: it could not be delivered in time' }, { atMs: this.#options.clock.now(), outcome: 'expired' });
      return this.#next(tx, claim);
    }
    const waitMs = this.#waitFor(item);
    if (waitMs > 0) {
      await releaseLane(tx, claim, { more: true, readyInMs: waitMs });
      return { type: 'wait', ms: waitMs };
    }
    if (item.delivery.changes !== undefined) return this.#change(tx, claim, { item, of: item.delivery.changes });
    if (item.state === 'sending') return this.#recover(tx, claim, item);
    await markSending(tx, item.id);
    return { type: 'send', item: { ...item, attempts: item.attempts + 1 } };
  }

  /** Everything before it in the lane is settled, so the message that it changes is there or will never be. */
  async #change(tx: Writing, claim: Claim, change: { item: OutboxItem; of: string }): Promise<Next> {
    const { item } = change;
    const messageId = await sentMessageId(tx, change.of);
    if (messageId === undefined || this.#options.connections.adapter(item.delivery.message.target.account)?.edits === undefined) {
      await settleDelivery(tx, item.id, { state: 'cancelled', log: [...item.log, { atMs: this.#options.clock.now(), outcome: 'nothing to change' }] });
      return this.#next(tx, claim);
    }
    await markSending(tx, item.id);
    return { type: 'send', item: { ...item, attempts: item.attempts + 1, delivery: { ...item.delivery, finishes: messageId } } };
  }

  #waitFor(item: OutboxItem): number {
    const { target } = item.delivery.message;
    if (this.#options.connections.adapter(target.account) === undefined) return absentMs;
    if (this.#abort.signal.aborted) return absentMs;
    return Math.max(item.waitMs, this.#options.gate.waitMs(target));
  }

  /** The process ended between the call and its result: nobody knows whether it arrived. */
  async #recover(tx: Writing, claim: Claim, item: OutboxItem): Promise<Next> {
    const { target } = item.delivery.message;
    const platform = this.#platform(target.account);
    const adapter = this.#options.connections.adapter(target.account);
    const safe = adapter?.repeatsAreSafe === true && item.untouchedMs < (adapter.repeatsAreSafeForMs ?? Infinity);
    const verdict = afterUnknown(item, platform, safe);
    await this.#record(tx, item, verdict, { atMs: this.#options.clock.now(), outcome: 'unknown', detail: 'the process ended before the answer came' });
    return this.#next(tx, claim);
  }

  async #send(claim: Claim, item: OutboxItem): Promise<Next> {
    const { clock, connections, gate } = this.#options;
    const { message } = item.delivery;
    const startedMs = clock.now();
    // A typing sign or a preview may have met a rate limit since the row was taken up.
    const waitMs = gate.waitMs(message.target);
    if (waitMs > 0) return this.#settle(claim, (tx) => settleDelivery(tx, item.id, { state: item.state, log: item.log, delayMs: waitMs, uncounted: true }));
    const adapter = connections.adapter(message.target.account);
    const result = adapter === undefined ? new PlatformError('unavailable', 'the account has no connection') : await this.#call(adapter, item);
    const callMs = clock.now() - startedMs;
    if (result instanceof PlatformError) return this.#failed(claim, item, { error: result, callMs, safe: adapter?.repeatsAreSafe === true });
    connections.succeeded(message.target.account);
    this.#options.onOutcome?.({ ...causeOf(item), outcome: 'sent', callMs });
    return this.#settle(claim, (tx) => this.#sent(tx, item, result));
  }

  /** What became of a call is not forgotten because the disk is full for a moment. */
  #settle(claim: Claim, record: (tx: Writing) => Promise<void>): Promise<Next> {
    const { store, clock, log } = this.#options;
    const settleAndGoOn = async (tx: Writing): Promise<Next> => {
      await holdLane(tx, claim, leaseMs);
      await record(tx);
      return this.#next(tx, claim);
    };
    const write = (): Promise<Next> => store.write(settleAndGoOn, { patient: true });
    return persist(write, { clock, log, signal: this.#abort.signal });
  }

  async #sent(tx: Writing, item: OutboxItem, messageIds: readonly string[]): Promise<void> {
    const { message, rest } = item.delivery;
    const attempt: Attempt = { atMs: this.#options.clock.now(), outcome: 'sent', detail: messageIds.join(' ') };
    const [following, ...others] = rest ?? [];
    const continues = following !== undefined;
    await settleDelivery(tx, item.id, {
      state: continues ? 'pending' : 'sent',
      log: [...item.log, attempt],
      messageIds: [...item.messageIds, ...messageIds],
      ...(continues && { delivery: { message: { ...message, key: `${message.key}+`, text: following }, rest: others } }),
      ...(!continues && message.secret === true && { delivery: withoutSecret(item.delivery) }),
    });
    await markAlive(tx, message.target.account, message.target.chatId);
  }

  async #call(adapter: Adapter, item: OutboxItem): Promise<readonly string[] | PlatformError> {
    const { message, finishes } = item.delivery;
    using limit = timeLimit(this.#options.sendTimeoutMs, this.#abort.signal);
    const { signal } = limit;
    try {
      if (finishes !== undefined && adapter.edits !== undefined && message.media === undefined) {
        await adapter.edits.edit(finishes, message, true, signal);
        return [finishes];
      }
      const shown = item.log.some(({ outcome }) => outcome === 'unknown' || outcome === 'unknown_outcome') ? { ...message, mayBeShown: true } : message;
      const receipt = await adapter.send(adapter.choices === undefined ? numbered(shown) : shown, signal);
      return receipt.messageIds;
    } catch (error) {
      if (!(error instanceof PlatformError)) this.#options.log.error({ err: error, account: message.target.account }, 'delivery.adapter_broke_its_contract');
      return error instanceof PlatformError && error.code !== 'aborted' ? error : new PlatformError('unknown_outcome', error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async #failed(claim: Claim, item: OutboxItem, failure: { error: PlatformError; callMs: number; safe: boolean }): Promise<Next> {
    const { clock, log, gate } = this.#options;
    const { target } = item.delivery.message;
    const { error } = failure;
    const gateMs = error.code === 'rate_limited' ? await gate.close(target, error) : undefined;
    const platform = this.#platform(target.account);
    const verdict = afterError(item, redacted(error, this.#options.redact), { platform, repeatsAreSafe: failure.safe, ...(gateMs !== undefined && { gateMs }) });
    const outcome = verdict.type === 'fail' ? 'failed' : verdict.type === 'repeat' ? 'repeat' : 'retry';
    log.warn({ delivery: item.id, account: target.account, chat: target.chatId, attempt: item.attempts, code: error.code, err: error, outcome }, 'delivery.not_sent');
    this.#options.onOutcome?.({ ...causeOf(item), outcome, code: error.code, callMs: failure.callMs });
    return this.#settle(claim, (tx) => this.#record(tx, item, verdict, { atMs: clock.now(), outcome: error.code, detail: this.#options.redact(error.message) }));
  }

  async #record(tx: Writing, item: OutboxItem, verdict: Verdict, attempt: Attempt): Promise<void> {
    const { target } = item.delivery.message;
    const log = [...item.log, attempt];
    if (verdict.type === 'fail' && verdict.deadTarget) await markDead(tx, { account: target.account, chatId: target.chatId, reason: verdict.reason });
    const settlement = settlementOf(verdict, log);
    const secret = verdict.type === 'fail' && item.delivery.message.secret === true;
    await settleDelivery(tx, item.id, secret ? { ...settlement, delivery: withoutSecret(item.delivery) } : settlement);
  }

  #platform(account: string): Platform {
    const platform = this.#options.connections.platform(account);
    if (platform === undefined) throw new Error(`no platform called ${platformOf(account)}`);
    return platform;
  }
}

/** The same failure, fit to be kept. */
const redacted = (error: PlatformError, redact: (text: string) => string): PlatformError => new PlatformError(error.code, redact(error.message), error.facts);

/** What is left of a delivery whose text must not outlive its showing. */
const withoutSecret = ({ message }: Delivery): Delivery => ({ message: { ...message, text: '' } });

const settlementOf = (verdict: Verdict, log: readonly Attempt[]): Settlement => {
  switch (verdict.type) {
    case 'again':
      return { state: 'pending', log, delayMs: verdict.delayMs, uncounted: verdict.uncounted, ...(verdict.delivery !== undefined && { delivery: verdict.delivery }) };
    case 'repeat':
      return { state: 'unknown', log, delayMs: verdict.delayMs, delivery: verdict.delivery, repeated: true };
    case 'fail':
      return { state: 'failed', log, error: verdict.reason };
    default:
      throw verdict satisfies never;
  }
};
