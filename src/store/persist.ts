import { StoreError } from '../core/errors.ts';
import { slept } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Whether the store may work again in a moment: there was no space, somebody else was writing, the server was away. */
export const isPassing = (error: unknown): boolean => error instanceof StoreError && (error.code === 'full' || error.code === 'busy' || error.code === 'unavailable');

export interface Persistence {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the patience: the next failure is thrown. */
  readonly signal: AbortSignal;
}

const longestPauseMs = 5_000;

/** Repeats a write for as long as the store's trouble may pass, so that what is known already (an answer, the outcome of a call) is not forgotten. */
export const persist = async <T>(write: () => Promise<T>, options: Persistence): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isPassing(error) || options.signal.aborted) throw error;
      options.log.error({ err: error, attempt }, 'store.write_delayed');
      await slept(options.clock, Math.min(longestPauseMs, 250 * attempt), options.signal);
    }
  }
};
