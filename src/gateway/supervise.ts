import { PlatformError } from '../core/errors.ts';
import type { AccountName } from '../core/ids.ts';
import type { InboundEvent } from '../core/message.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import type { Accepted, Adapter, AdapterContext, ChatMove, Platform } from '../platforms/contract.ts';
import { accountInbox } from './account-inbox.ts';
import type { Evidence } from './account-inbox.ts';
import { afterFailure } from './after-failure.ts';
import { holdCredential } from './credential-lock.ts';
import { accountWish } from '../store/accounts/account-wishes.ts';
import type { AccountWish } from '../store/accounts/account-wishes.ts';
import { freshStatus, leaseAccount, releaseAccount, saveStatus } from '../store/accounts/accounts.ts';
import type { AccountState, AccountStatus } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';

export interface SupervisorOptions {
  readonly account: AccountName;
  readonly platform: Platform;
  readonly context: AdapterContext<unknown>;
  readonly store: Store;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where credentials are held against other gateways of this machine; nowhere when left out. */
  readonly lockFolder?: string;
  /** Whoever holds the account is about to let go of it for us. */
  readonly takesOver?: boolean;
  /** Takes secrets out of what is kept and shown. */
  redact(text: string): string;
  accept(event: InboundEvent): Promise<Accepted>;
  /** A chat of the account goes on elsewhere. */
  readonly moved: (move: ChatMove) => Promise<void>;
  /** The platform may be called from now on. */
  onUsable(): void;
  /** This gateway receives for the account. */
  onConnected(adapter: Adapter): void;
}

const identifyTimeoutMs = 30_000;
const leaseMs = 30_000;
const tickMs = 5_000;
const saveEveryMs = 15_000;
/** An adapter that does not end in time is left to itself. */
const endTimeoutMs = 5_000;

/** Why a connection ends that an admin does not want any more. */
const wished = new Error('an admin wants it otherwise');

/**
 * Keeps one account connected: connects, watches for signs of life, and connects again with growing delays. What "connected" means is
 * evidence of traffic. Nothing that happens here touches another account.
 */
export class AccountSupervisor {
  readonly #options: SupervisorOptions;
  readonly #stop = new AbortController();
  #status: AccountStatus;
  #adapter: Adapter | undefined;
  #loop: Promise<void> | undefined;
  #savedMs = 0;
  #attempts = 0;
  #isHolder = false;
  #wish: AccountWish = { paused: false, restarts: 0 };
  /** Ends the present wait, whatever it waits for. */
  #nudge = new AbortController();
  #isReceiving = false;
  /** Since when something could be heard. */
  #listeningMs = 0;
  /** The present connection has received something: that the platform knows us says nothing about it. */
  #hasHeard = false;
  /** What the holder of the account is expected to do. */
  #release: 'expected' | 'overdue' | 'unknown';
  /** Whoever waits for a change of whether it receives. */
  readonly #waiting = new Set<() => void>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#release = options.takesOver === true ? 'expected' : 'unknown';
    this.#status = freshStatus(options.account, { state: 'connecting' });
  }

  get status(): AccountStatus {
    return this.#status;
  }

  /** Present once a connection was made, here or by the gateway that holds the account; sending goes on trying while receiving has trouble. */
  get adapter(): Adapter | undefined {
    return this.#adapter;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeWaiting();
    await this.#loop;
    if (!this.#isHolder) return;
    const { store, account, owner, log } = this.#options;
    try {
      await this.#save({ state: 'stopped' });
      await store.write((tx) => releaseAccount(tx, account, owner));
    } catch (error) {
      log.error({ err: error, account }, 'account.status_not_saved');
    }
  }

  /** Looks at once whether somebody wants something else of the account. */
  reconsider(): void {
    this.#nudge.abort();
  }

  /** Looks at once whether the gateway that holds the account has let go of it; after the last such look nobody waits for that any more. */
  takeOver({ isLast }: { readonly isLast: boolean }): void {
    if (isLast && this.#release === 'expected') this.#release = 'overdue';
    if (this.#status.errorCode === 'held') this.reconsider();
  }

  /** Resolves when what arrives is taken, when that is not to be expected, or when the signal says so. */
  async untilReceiving(signal: AbortSignal): Promise<void> {
    const isExpected = (): boolean => this.#status.state === 'connecting' || this.#status.state === 'connected' || (this.#status.errorCode === 'held' && this.#release !== 'unknown');
    while (!this.#isReceiving && isExpected() && !signal.aborted && !this.#stop.signal.aborted) {
      const changed = Promise.withResolvers<void>();
      this.#waiting.add(changed.resolve);
      signal.addEventListener('abort', () => changed.resolve(), { once: true });
      await changed.promise;
      this.#waiting.delete(changed.resolve);
    }
  }

  succeeded(): void {
    this.#status = { ...this.#status, lastCallAtMs: this.#options.clock.now() };
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      const waitMs = await this.#connectOnce();
      if (waitMs > 0) await slept(clock, waitMs, AbortSignal.any([this.#stop.signal, this.#nudge.signal]));
      this.#nudge = new AbortController();
    }
  }

  /** One connection from beginning to end; answers how long to wait before the next. Never rejects: nobody would hear it. */
  async #connectOnce(): Promise<number> {
    const { log, account } = this.#options;
    try {
      const isHolder = await this.#lease();
      if (this.#wish.paused) return await this.#rest();
      if (!isHolder) return await this.#standBy();
      await this.#connect(this.#wish.restarts);
      return this.#stop.signal.aborted ? 0 : await this.#failed(new PlatformError('unavailable', 'the connection ended'));
    } catch (error) {
      if (this.#stop.signal.aborted || error === wished) return 0;
      if (!(error instanceof PlatformError)) log.error({ err: error, account }, 'account.broke');
      return this.#failed(error instanceof PlatformError ? error : new PlatformError('unavailable', error instanceof Error ? error.message : String(error), { cause: error }));
    }
  }

  async #failed(error: PlatformError): Promise<number> {
    const { log, account, clock } = this.#options;
    this.#attempts += 1;
    const { state, waitMs } = afterFailure(error, this.#attempts);
    log.warn({ account, code: error.code, err: error, attempt: this.#attempts, wait_ms: waitMs }, 'account.disconnected');
    try {
      await this.#save({ state, errorCode: error.code, error: this.#options.redact(error.message), attempts: this.#attempts, nextTryAtMs: clock.now() + waitMs });
    } catch (failure) {
      log.error({ err: failure, account }, 'account.status_not_saved');
    }
    return waitMs;
  }

  /** An admin wants quiet: nothing is read, and what is to be sent waits. */
  async #rest(): Promise<number> {
    this.#adapter = undefined;
    this.#attempts = 0;
    if (this.#status.state !== 'paused') this.#options.log.info({ account: this.#options.account }, 'account.paused');
    await this.#save({ state: 'paused', errorCode: null, error: null, attempts: 0, nextTryAtMs: null });
    return leaseMs / 3;
  }

  /** Another gateway receives for the account. Turns and deliveries are for any of them, so this one may call the platform, too. */
  async #standBy(): Promise<number> {
    const { platform, context } = this.#options;
    this.#status = { ...this.#status, state: 'waiting', errorCode: 'held', error: 'another gateway holds this account' };
    if (this.#release === 'overdue') this.#release = 'unknown';
    this.#wakeWaiting();
    if (this.#adapter === undefined) {
      this.#adapter = await this.#unlessLate(platform.open(context), AbortSignal.any([this.#stop.signal, AbortSignal.timeout(identifyTimeoutMs)]));
      this.#options.onUsable();
    }
    return leaseMs / 3;
  }

  async #connect(restarts: number): Promise<void> {
    const { platform, context, log, account, clock } = this.#options;
    await this.#save({ state: 'connecting', nextTryAtMs: null, ...(this.#status.errorCode === 'held' && { errorCode: null, error: null }) });
    using _credential = this.#holdCredential();
    const run = new AbortController();
    this.#listeningMs = clock.now();
    // From here on, so that a platform that takes its time does not cost the lease.
    const watching = this.#watch(run, restarts);
    try {
      const soon = AbortSignal.any([this.#stop.signal, run.signal, AbortSignal.timeout(identifyTimeoutMs)]);
      const adapter = await this.#unlessLate(platform.open(context), soon);
      const identity = await this.#unlessLate(adapter.identify(soon), soon);
      this.#adapter = adapter;
      await this.#save({ identity: identity.id, name: identity.handle ?? identity.name, lastCallAtMs: clock.now() });
      log.info({ account, identity: identity.id, name: identity.name, handle: identity.handle }, 'account.identified');
      this.#options.onUsable();
      this.#options.onConnected(adapter);
      this.#isReceiving = true;
      this.#hasHeard = false;
      this.#listeningMs = clock.now();
      const running = adapter.run(accountInbox(this.#options, identity, (evidence) => this.#heard(evidence)), identity, AbortSignal.any([this.#stop.signal, run.signal]));
      this.#wakeWaiting();
      await Promise.race([running, watching.then(() => this.#afterEnd(running))]);
      run.signal.throwIfAborted();
    } catch (error) {
      // Why it was ended, whatever came of that.
      throw run.signal.aborted ? run.signal.reason : error;
    } finally {
      this.#isReceiving = false;
      run.abort();
      await watching;
    }
  }

  #wakeWaiting(): void {
    for (const wake of this.#waiting) wake();
  }

  #holdCredential(): Disposable | undefined {
    const { lockFolder, platform, context, account } = this.#options;
    return lockFolder === undefined ? undefined : holdCredential(lockFolder, { platform, options: context.options, account, home: context.home });
  }

  /** An adapter that does not obey the signal is left to itself, so that it keeps neither the account nor whoever stops it. */
  async #unlessLate<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const late = untilAborted(signal).then(async () => {
      await this.#afterEnd(work);
      throw new PlatformError('unavailable', 'there was no answer in time');
    });
    return Promise.race([work, late]);
  }

  /** Resolves when the adapter has ended, or when it had its time to. */
  async #afterEnd(running: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    await Promise.race([running, slept(this.#options.clock, endTimeoutMs, late.signal)]);
    late.abort();
  }

  /** Ends the connection on silence, on an admin's wish, or when the account's lease went to another node; resolves when the connection is over. */
  async #watch(run: AbortController, restarts: number): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, run.signal]);
    const { clock, platform, log, account } = this.#options;
    for (;;) {
      await slept(clock, tickMs, AbortSignal.any([signal, this.#nudge.signal]));
      if (signal.aborted) return;
      this.#nudge = new AbortController();
      try {
        const isHolder = await this.#lease();
        if (this.#wish.paused || this.#wish.restarts !== restarts) run.abort(wished);
        else if (!isHolder) run.abort(new PlatformError('unavailable', 'another gateway has taken this account over'));
        this.#followClock(clock.now());
        const quietMs = clock.now() - Math.max(this.#listeningMs, this.#status.lastAliveAtMs ?? 0, this.#status.lastEventAtMs ?? 0);
        if (platform.silenceMs !== undefined && quietMs > platform.silenceMs) {
          await this.#save({ state: 'degraded' });
          run.abort(new PlatformError('unavailable', `nothing was heard for ${Math.round(quietMs / 1000)} s`));
        } else if (Math.abs(clock.now() - this.#savedMs) > saveEveryMs) await this.#save({});
      } catch (error) {
        log.error({ err: error, account }, 'account.watch_failed');
      }
    }
  }

  /** Evidence from a time that was taken back would hide the silence that follows. */
  #followClock(nowMs: number): void {
    const known = (atMs: number | null): number | null => (atMs === null ? null : Math.min(atMs, nowMs));
    const { lastEventAtMs, lastAliveAtMs } = this.#status;
    this.#listeningMs = Math.min(this.#listeningMs, nowMs);
    this.#status = { ...this.#status, lastEventAtMs: known(lastEventAtMs), lastAliveAtMs: known(lastAliveAtMs) };
  }

  async #lease(): Promise<boolean> {
    const { store, account, owner } = this.#options;
    const { isHolder, wish } = await store.write(async (tx) => ({ isHolder: await leaseAccount(tx, { account, owner, leaseMs }), wish: await accountWish(tx, account) }));
    this.#isHolder = isHolder;
    this.#wish = wish;
    return isHolder;
  }

  /** The only evidence that the account receives: with the first of it the account is connected, and says so at once. */
  #heard(evidence: Evidence): void {
    const { clock, log, account } = this.#options;
    this.#attempts = 0;
    this.#status = { ...this.#status, ...evidence, attempts: 0 };
    if (this.#hasHeard || !this.#isReceiving) return;
    this.#hasHeard = true;
    this.#status = { ...this.#status, state: 'connected', errorCode: null, error: null, connectedAtMs: clock.now() };
    log.info({ account }, 'account.connected');
    this.#savedMs = 0;
    this.reconsider();
  }

  /** What all gateways read about the account is the holder's to write. */
  async #save(change: Partial<AccountStatus> & { state?: AccountState }): Promise<void> {
    this.#status = { ...this.#status, ...change };
    this.#wakeWaiting();
    if (!this.#isHolder) return;
    this.#savedMs = this.#options.clock.now();
    await this.#options.store.write((tx) => saveStatus(tx, this.#status));
  }
}
