import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';

/**
 * Waits limits out, for questions that an event cannot be taken without: giving the connection up for one would only ask everything again.
 * What people are to see never waits here.
 */
export const patiently = async <T>(clock: Clock, signal: AbortSignal, ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'rate_limited') throw error;
      await clock.sleep(error.facts.retryAfterMs ?? 1000, signal);
    }
  }
};
