import type { Context } from 'hono';
import type { Usage } from '../../core/transcript.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { addApiSpend, spendDay } from '../../store/api/api-keys.ts';
import type { Store } from '../../store/store.ts';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';
import type { Caller, Callers } from './callers.ts';
import type { ApiOptions } from './options.ts';

export interface WorkDeps {
  readonly callers: Callers;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: ApiOptions;
}

/** One answer that is being worked on. */
export interface Job extends Disposable {
  /** Aborted when the client has gone away, unless the settings keep what nobody waits for. */
  readonly signal: AbortSignal;
  /** What it has cost. */
  spent(usage: Usage): Promise<void>;
}

export interface Work {
  /** Throws the refusal for whoever asks too much. */
  begin(c: Context<HttpEnv>, caller: Caller): Promise<Job>;
}

/** Tells when a client goes away before it was answered, or has gone already. */
const watchClient = (c: Context<HttpEnv>): Disposable & { readonly signal: AbortSignal } => {
  const gone = new AbortController();
  const outgoing = c.env?.outgoing;
  const look = (): void => {
    if (outgoing?.writableFinished === false) gone.abort();
  };
  if (outgoing?.destroyed === true) look();
  else outgoing?.once('close', look);
  return { signal: gone.signal, [Symbol.dispose]: () => void outgoing?.off('close', look) };
};

/** Keeps the number of answers and their cost within what the settings and each key allow. */
export const newWork = ({ callers, store, clock, log, options }: WorkDeps): Work => {
  let running = 0;
  return {
    async begin(c, caller) {
      if (running >= options.max_concurrent_requests) throw new ApiError(429, `The gateway works on ${running} answers already. Try again in a moment.`, { code: 'rate_limit_exceeded', retryAfterMs: 1000 });
      // Counted before anything is waited for: those who come meanwhile must see it.
      running += 1;
      let admitted: Disposable;
      try {
        admitted = await callers.admit(caller);
      } catch (error) {
        running -= 1;
        throw error;
      }
      let open = true;
      const client = options.on_disconnect === 'cancel' ? watchClient(c) : undefined;
      return {
        signal: client?.signal ?? new AbortController().signal,
        async spent(usage) {
          if (usage.cost === undefined || usage.cost.usd === 0) return;
          const usd = usage.cost.usd;
          try {
            await store.write((tx) => addApiSpend(tx, { keyId: caller.id, day: spendDay(clock.now()), usd }), { patient: true });
          } catch (error) {
            log.error({ err: error, key: caller.name }, 'api.spend_not_kept');
          }
        },
        [Symbol.dispose]() {
          if (!open) return;
          open = false;
          running -= 1;
          client?.[Symbol.dispose]();
          admitted[Symbol.dispose]();
        },
      };
    },
  };
};
