import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ProviderHealth } from './provider-health.ts';
import { MemoryError } from './provider.ts';
import type { MemoryProvider, MemorySession } from './provider.ts';

export interface PrefetcherDeps {
  readonly provider: MemoryProvider;
  readonly health: ProviderHealth;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timeoutMs: number;
  /** Makes sure that the provider knows the conversation. */
  prepare(session: MemorySession, signal: AbortSignal): Promise<void>;
}

/** Asks a provider what it remembers, without making anybody wait for long. */
export interface Prefetcher {
  /** Never rejects. What comes too late is kept for the next question in the conversation. */
  ask(query: string, session: MemorySession): Promise<string>;
  close(): void;
}

const mostKept = 500;
/** What was remembered longer ago says too little about what is asked now. */
const keptMs = 3_600_000;

interface Kept {
  readonly text: string;
  readonly atMs: number;
}

export const newPrefetcher = (deps: PrefetcherDeps): Prefetcher => {
  const { provider, health, clock, log } = deps;
  const stop = new AbortController();
  const asked = new Map<string, Promise<string | undefined>>();
  const late = new Map<string, Kept>();

  const fetchNow = async (query: string, session: MemorySession): Promise<string | undefined> => {
    try {
      await deps.prepare(session, stop.signal);
      const text = (await provider.prefetch?.(query, session, stop.signal)) ?? '';
      health.succeeded();
      return text;
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      health.failed(error);
      log.warn({ provider: provider.name, session: session.sessionId, ...(error instanceof MemoryError ? { code: error.code, reason: error.message } : { err: error }) }, 'memory.prefetch_failed');
      return undefined;
    } finally {
      asked.delete(session.sessionId);
    }
  };

  const keep = (sessionId: string, text: string | undefined): void => {
    if (text === undefined || text === '') return;
    if (late.size >= mostKept) late.delete(late.keys().next().value ?? '');
    late.set(sessionId, { text, atMs: clock.now() });
  };

  const takeKept = (sessionId: string): string => {
    const kept = late.get(sessionId);
    late.delete(sessionId);
    return kept === undefined || clock.now() - kept.atMs > keptMs ? '' : kept.text;
  };

  return {
    async ask(query, session) {
      const { sessionId } = session;
      // One that is still out belongs to an earlier question: it comes in by itself.
      if (provider.prefetch === undefined || query.trim() === '' || asked.has(sessionId) || !health.isTrusted()) return takeKept(sessionId);
      const answer = fetchNow(query, session);
      asked.set(sessionId, answer);
      const rest = new AbortController();
      const timeout = slept(clock, deps.timeoutMs, rest.signal).then(() => 'late' as const);
      const first = await Promise.race([answer.then((text) => ({ text })), timeout]);
      rest.abort();
      if (first !== 'late') return first.text ?? takeKept(sessionId);
      log.info({ provider: provider.name, session: sessionId }, 'memory.prefetch_late');
      void answer.then((text) => keep(sessionId, text));
      return takeKept(sessionId);
    },
    close: () => stop.abort(),
  };
};
