import type { ModelError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';

/** The keys of one endpoint. One is used until it fails for a reason that another key may not have. */
export interface KeyRing {
  /** The key to use now; undefined where none is needed. */
  current(): string | undefined;
  /** Puts a key aside after a failure; answers whether another one is ready. */
  rest(key: string | undefined, error: ModelError): boolean;
}

/** A wrong key and an empty account are seldom put right within minutes. */
const brokenRestMs = 3_600_000;
const limitedRestMs = 60_000;

const restMs = (error: ModelError): number => (error.code === 'rate_limited' ? Math.min(error.retryAfterMs ?? limitedRestMs, brokenRestMs) : brokenRestMs);

export const newKeyRing = (keys: readonly string[], clock: Clock): KeyRing => {
  const readyAtMs = new Map(keys.map((key) => [key, 0]));
  const isReady = ([, atMs]: readonly [string, number]): boolean => atMs <= clock.now();
  return {
    /** When all are resting, the one that has rested enough first. */
    current() {
      const all = [...readyAtMs];
      const ready = all.find(isReady) ?? all.toSorted(([, a], [, b]) => a - b)[0];
      return ready?.[0];
    },
    rest(key, error) {
      if (key === undefined || !error.rule.rotateKey || readyAtMs.size < 2) return false;
      readyAtMs.set(key, clock.now() + restMs(error));
      return [...readyAtMs].some(isReady);
    },
  };
};
