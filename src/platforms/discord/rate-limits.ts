import type { IncomingHttpHeaders } from 'node:http';
import { RateGate } from '../../lib/rate-gate.ts';

/** A limit that is in force, and whom it covers. */
export interface Limited {
  readonly retryAfterMs: number;
  readonly scope: 'chat' | 'account';
}

/** What Discord has told about its limits, so that a call which it would refuse is not even made. */
export interface RateLimits {
  /** Undefined when the call may be made. */
  check(route: string, major: string): Limited | undefined;
  /** Learns from the headers of an answer. */
  learn(route: string, major: string, headers: IncomingHttpHeaders): void;
  /** Everything has to wait. */
  close(forMs: number): void;
}

/** A scope that no route has. */
const everything = '*';

const header = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/**
 * Routes share buckets, and Discord names a bucket in its answers; within one, each channel or server counts for itself.
 * https://discord.com/developers/docs/topics/rate-limits
 */
export const newRateLimits = (now: () => number): RateLimits => {
  const buckets = new Map<string, string>();
  const gate = new RateGate(now);
  const keyOf = (route: string, major: string): string => `${buckets.get(route) ?? route}:${major}`;
  return {
    check(route, major) {
      const allMs = gate.waitMs(everything);
      if (allMs > 0) return { retryAfterMs: allMs, scope: 'account' };
      const ms = gate.waitMs(keyOf(route, major));
      return ms > 0 ? { retryAfterMs: ms, scope: 'chat' } : undefined;
    },
    learn(route, major, headers) {
      const bucket = header(headers, 'x-ratelimit-bucket');
      if (bucket !== undefined) buckets.set(route, bucket);
      const resetSeconds = Number(header(headers, 'x-ratelimit-reset-after'));
      if (header(headers, 'x-ratelimit-remaining') !== '0' || !Number.isFinite(resetSeconds)) return;
      gate.close(keyOf(route, major), Math.ceil(resetSeconds * 1000));
    },
    close: (forMs) => gate.close(everything, forMs),
  };
};
