import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { HookError } from './hook-error.ts';

/** How long a call may take, and what ends it before. */
export interface CallLimit {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What the work answers, or a `HookError` when its time is up. The work itself is not ended by this. */
export const withinLimit = async <T>(work: Promise<T>, { clock, timeoutMs, signal }: CallLimit): Promise<T> => {
  const over = new AbortController();
  const end = slept(clock, timeoutMs, AbortSignal.any([signal, over.signal])).then((late) => (late ? ('timeout' as const) : ('aborted' as const)));
  try {
    const done = await Promise.race([work.then((value) => ({ value })), end]);
    if (typeof done === 'object') return done.value;
    throw new HookError(done, done === 'timeout' ? `no answer within ${timeoutMs / 1000} s` : 'the gateway is ending');
  } finally {
    over.abort();
  }
};
