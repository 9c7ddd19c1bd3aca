import type { ModelError } from '../../../core/errors.ts';
import { backoffMs } from '../../../lib/backoff.ts';

/** What to do after a failed attempt. */
export type Recovery =
  | { readonly step: 'repeat'; readonly delayMs: number }
  | { readonly step: 'next_key' }
  | { readonly step: 'without_reasoning' }
  | { readonly step: 'fall_back' }
  | { readonly step: 'give_up' };

/** What was tried already, of one call at one endpoint. */
export interface Tried {
  /** Counted from one. */
  readonly attempts: number;
  readonly keys: number;
  readonly withoutReasoning: boolean;
}

export interface RecoveryLimits {
  readonly maxRetries: number;
  readonly hasFallback: boolean;
  readonly random: () => number;
}

const backoff = { baseMs: 2000, capMs: 60_000 } as const;
/** A server that wants more patience than this is not waited for. */
const maxRetryAfterMs = 600_000;
/** With somebody else to ask, nobody waits longer than this. */
const maxWaitWithFallbackMs = 60_000;
/** However many keys there are. */
const maxKeys = 10;

const repeatDelayMs = (error: ModelError, tried: Tried, limits: RecoveryLimits): number | undefined => {
  if (!error.rule.retry || tried.attempts > limits.maxRetries) return undefined;
  const delayMs = error.retryAfterMs ?? backoffMs(tried.attempts, { ...backoff, random: limits.random });
  return delayMs > (limits.hasFallback ? maxWaitWithFallbackMs : maxRetryAfterMs) ? undefined : delayMs;
};

/** The cheapest thing that may help: another key, the same call without old reasoning, the same call later, somebody else. */
export const recover = (error: ModelError, tried: Tried, limits: RecoveryLimits): Recovery => {
  if (error.facts.freshKey === true && tried.keys < maxKeys) return { step: 'next_key' };
  if (error.code === 'stale_reasoning' && !tried.withoutReasoning) return { step: 'without_reasoning' };
  const delayMs = repeatDelayMs(error, tried, limits);
  if (delayMs !== undefined) return { step: 'repeat', delayMs };
  return { step: error.rule.fallBack && limits.hasFallback ? 'fall_back' : 'give_up' };
};

/** What was tried after one more step. */
export const afterStep = (tried: Tried, { step }: Recovery): Tried => {
  switch (step) {
    case 'repeat':
      return { ...tried, attempts: tried.attempts + 1 };
    case 'next_key':
      return { ...tried, keys: tried.keys + 1 };
    case 'without_reasoning':
      return { ...tried, withoutReasoning: true };
    case 'fall_back':
    case 'give_up':
      return firstTry;
    default:
      return step satisfies never;
  }
};

export const firstTry: Tried = { attempts: 1, keys: 1, withoutReasoning: false };
