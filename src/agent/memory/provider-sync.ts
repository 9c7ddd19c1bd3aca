import { backoffMs } from '../../lib/backoff.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { claimMemoryWork, enqueueMemoryWork, finishMemoryWork, postponeMemoryWork, releaseMemoryWork } from '../../store/agents/memory-work.ts';
import type { MemoryWork } from '../../store/agents/memory-work.ts';
import type { Store, Writing } from '../../store/store.ts';
import type { ProviderHealth } from './provider-health.ts';
import { MemoryError } from './provider.ts';
import type { Delegation, MemoryProvider, MemorySession, MemoryWrite, RememberedTurn } from './provider.ts';

/** What a provider is told in the background, as it waits in the store. */
export type ProviderNews = { readonly session: MemorySession } & (
  | { readonly kind: 'turn'; readonly turn: Omit<RememberedTurn, 'repeated'> }
  | { readonly kind: 'end'; readonly end: { readonly key: string; readonly reason: string; readonly atMs: number } }
  | { readonly kind: 'write'; readonly write: MemoryWrite }
  | { readonly kind: 'delegation'; readonly delegation: Delegation }
  | { readonly kind: 'switch'; readonly key: string; readonly from: MemorySession }
);

export interface ProviderSyncDeps {
  readonly agent: string;
  /** The process, for the store. */
  readonly owner: string;
  readonly provider: MemoryProvider;
  readonly health: ProviderHealth;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

const mostWaiting = 1000;
const leaseMs = 180_000;
/** Another process may have queued something. */
const lookEveryMs = 15_000;
const retry = { baseMs: 5_000, capMs: 15 * 60_000 } as const;
const giveUpAfterMs = 3 * 24 * 3_600_000;
const mostKnownSessions = 1000;

const keyOf = (news: ProviderNews): string => {
  switch (news.kind) {
    case 'turn':
      return news.turn.key;
    case 'end':
      return news.end.key;
    case 'write':
      return news.write.key;
    case 'delegation':
      return news.delegation.key;
    case 'switch':
      return news.key;
    default:
      throw news satisfies never;
  }
};

/**
 * Tells a provider what happened, one thing after the other, off the path of messages. What waits is in the store and outlives the process; at most a thousand
 * things of an agent wait, and nothing longer than three days. Each is told at least once.
 */
export class ProviderSync {
  readonly #deps: ProviderSyncDeps;
  readonly #stop = new AbortController();
  readonly #known = new Set<string>();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(deps: ProviderSyncDeps) {
    this.#deps = deps;
  }

  /** Part of the transaction in which the thing happened, so that it is neither lost nor told without having happened. */
  async enqueue(tx: Writing, news: ProviderNews): Promise<void> {
    const { agent, log } = this.#deps;
    const { session, ...payload } = news;
    const dropped = await enqueueMemoryWork(tx, { key: `${agent}:${news.kind}:${keyOf(news)}`, agent, sessionId: session.sessionId, kind: news.kind, payload: { session, ...payload } }, mostWaiting);
    if (dropped > 0) log.error({ agent, dropped }, 'memory.queue_full');
  }

  /** There may be something to do. */
  wake(): void {
    this.#wake.resolve();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Lets what is under way end for a while; the rest waits for the next start. */
  async stop(graceMs: number): Promise<void> {
    const { clock, store, owner, log } = this.#deps;
    this.#stopping = true;
    this.wake();
    const patience = new AbortController();
    const grace = slept(clock, graceMs, patience.signal).then((over) => {
      if (over) this.#stop.abort();
    });
    await this.#running;
    patience.abort();
    await grace;
    try {
      await store.write((tx) => releaseMemoryWork(tx, owner));
    } catch (error) {
      log.warn({ err: error }, 'memory.not_released');
    }
  }

  /** Makes sure that the provider knows the conversation. */
  async prepare(session: MemorySession, signal: AbortSignal): Promise<void> {
    if (this.#known.has(session.sessionId)) return;
    await this.#deps.provider.initialize(session, signal);
    if (this.#known.size >= mostKnownSessions) this.#known.clear();
    this.#known.add(session.sessionId);
  }

  async #run(): Promise<void> {
    const { agent, owner, store, clock, log, health } = this.#deps;
    while (!this.#stopping) {
      this.#wake = Promise.withResolvers<void>();
      try {
        // While nothing gets through, what waits is left alone instead of being tried one by one.
        const work = health.isTrusted() ? await store.write((tx) => claimMemoryWork(tx, { agent, owner, leaseMs })) : undefined;
        if (work !== undefined) {
          await this.#tell(work);
          continue;
        }
      } catch (error) {
        log.error({ err: error, agent }, 'memory.sync_failed');
      }
      const rest = new AbortController();
      await Promise.race([this.#wake.promise, slept(clock, lookEveryMs, rest.signal)]);
      rest.abort();
    }
  }

  async #tell(work: MemoryWork): Promise<void> {
    const { store, health, log } = this.#deps;
    const news = work.payload as ProviderNews;
    try {
      await this.prepare(news.session, this.#stop.signal);
      await this.#perform(news, work.attempts > 1);
      health.succeeded();
      await store.write((tx) => finishMemoryWork(tx, work.id), { patient: true });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!(error instanceof MemoryError)) log.error({ err: error, kind: news.kind }, 'memory.provider_broke');
      health.failed(error);
      await this.#again(work, error);
    }
  }

  async #again(work: MemoryWork, error: unknown): Promise<void> {
    const { store, log, provider } = this.#deps;
    const reason = error instanceof Error ? error.message : String(error);
    const facts = { provider: provider.name, session: work.sessionId, kind: work.kind, attempts: work.attempts, reason };
    // It may have forgotten the conversation: then making that anew helps, once.
    const mayHelp = this.#known.delete(work.sessionId) && work.attempts === 1;
    const hopeless = error instanceof MemoryError ? !error.isWorthRepeating && !mayHelp : work.attempts >= 3;
    if (hopeless || work.ageMs > giveUpAfterMs) {
      log.error(facts, 'memory.not_synced');
      await store.write((tx) => finishMemoryWork(tx, work.id));
      return;
    }
    const delayMs = Math.max(backoffMs(work.attempts, retry), error instanceof MemoryError ? (error.retryAfterMs ?? 0) : 0);
    log.warn({ ...facts, delayMs }, 'memory.sync_retrying');
    await store.write((tx) => postponeMemoryWork(tx, work.id, { delayMs, error: reason.slice(0, 500) }));
  }

  async #perform(news: ProviderNews, repeated: boolean): Promise<void> {
    const { provider } = this.#deps;
    const { signal } = this.#stop;
    switch (news.kind) {
      case 'turn':
        return provider.syncTurn?.({ ...news.turn, repeated }, news.session, signal);
      case 'end':
        return provider.onSessionEnd?.(news.end, news.session, signal);
      case 'write':
        return provider.onMemoryWrite?.(news.write, news.session, signal);
      case 'delegation':
        return provider.onDelegation?.(news.delegation, news.session, signal);
      case 'switch':
        return provider.onSessionSwitch?.(news.session, news.from, signal);
      default:
        throw news satisfies never;
    }
  }
}
