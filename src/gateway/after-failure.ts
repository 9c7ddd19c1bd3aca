import type { PlatformError } from '../core/errors.ts';
import { backoffMs } from '../lib/backoff.ts';

const waits: Readonly<Record<'waiting' | 'conflict' | 'refused', { baseMs: number; capMs: number }>> = {
  waiting: { baseMs: 1_000, capMs: 300_000 },
  conflict: { baseMs: 30_000, capMs: 300_000 },
  refused: { baseMs: 60_000, capMs: 600_000 },
};

const stateAfter = (error: PlatformError): 'waiting' | 'conflict' | 'refused' => {
  if (error.code === 'conflict') return 'conflict';
  return error.code === 'bad_credential' ? 'refused' : 'waiting';
};

/** What an account is after a connection has failed for the nth time, and how long it is until the next. */
export const afterFailure = (error: PlatformError, attempts: number): { readonly state: keyof typeof waits; readonly waitMs: number } => {
  const state = stateAfter(error);
  return { state, waitMs: Math.max(error.facts.retryAfterMs ?? 0, backoffMs(attempts, waits[state])) };
};
