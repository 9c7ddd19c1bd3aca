import type { Clock } from '../lib/clock.ts';
import { networkOf } from './address.ts';

/** Counts wrong credentials by where they come from; a right one clears the count. */
export interface FailureLimiter {
  /** How long this address has to wait; 0 when it may try. */
  waitMs(address: string): number;
  failed(address: string): void;
  succeeded(address: string): void;
}

interface Failures {
  count: number;
  readonly untilMs: number;
}

export interface LimiterOptions {
  readonly clock: Clock;
  readonly max?: number;
  readonly windowMs?: number;
  readonly keep?: number;
  /** Told of an address, or the network around it, that has to wait from now on. */
  onLocked?(address: string): void;
}

export const newFailureLimiter = (options: LimiterOptions): FailureLimiter => {
  const { clock, max = 10, windowMs = 10 * 60_000, keep = 10_000 } = options;
  const failures = new Map<string, Failures>();
  const current = (key: string): Failures | undefined => {
    const found = failures.get(key);
    if (found === undefined) return undefined;
    const leftMs = found.untilMs - clock.now();
    // More than the whole is left only of a time that was taken back; nobody is to wait until it comes again.
    if (leftMs > 0 && leftMs <= windowMs) return found;
    failures.delete(key);
    return undefined;
  };
  return {
    waitMs(address) {
      const found = current(networkOf(address));
      return found !== undefined && found.count >= max ? found.untilMs - clock.now() : 0;
    },
    failed(address) {
      const key = networkOf(address);
      const found = current(key);
      if (found !== undefined) {
        found.count += 1;
        if (found.count === max) options.onLocked?.(key);
        return;
      }
      const oldest = failures.size >= keep ? failures.keys().next().value : undefined;
      if (oldest !== undefined) failures.delete(oldest);
      failures.set(key, { count: 1, untilMs: clock.now() + windowMs });
    },
    succeeded(address) {
      failures.delete(networkOf(address));
    },
  };
};
