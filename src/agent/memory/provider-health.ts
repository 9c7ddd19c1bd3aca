import type { Clock } from '../../lib/clock.ts';
import { MemoryError } from './provider.ts';

/** How a provider is doing, as far as our own calls have shown. */
export interface ProviderState {
  readonly state: 'unused' | 'working' | 'failing';
  readonly error?: string;
  readonly okAtMs?: number;
  readonly failedAtMs?: number;
}

/** What calls have shown about a provider. Whoever would make a person wait asks `isTrusted` first. */
export interface ProviderHealth {
  succeeded(): void;
  failed(error: unknown): void;
  /** False for a minute after three failures in a row. */
  isTrusted(): boolean;
  state(): ProviderState;
}

const strikes = 3;
const distrustMs = 60_000;

export const newProviderHealth = (clock: Clock): ProviderHealth => {
  let failures = 0;
  let current: ProviderState = { state: 'unused' };
  return {
    succeeded() {
      failures = 0;
      current = { state: 'working', okAtMs: clock.now() };
    },
    failed(error) {
      failures += 1;
      const text = error instanceof MemoryError ? `${error.message} (${error.code})` : 'an unexpected error, see the log';
      current = { ...current, state: 'failing', error: text, failedAtMs: clock.now() };
    },
    isTrusted: () => failures < strikes || clock.now() - (current.failedAtMs ?? 0) > distrustMs,
    state: () => current,
  };
};
