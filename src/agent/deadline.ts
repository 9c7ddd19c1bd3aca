import type { Clock } from '../lib/clock.ts';

/** A point in time that may be moved often and is waited for by one timer at most. */
export interface Deadline {
  set(atMs: number): void;
  /** Nothing happens after this. */
  clear(): void;
}

interface Sleep {
  readonly untilMs: number;
  readonly controller: AbortController;
}

/** Made once: an error of its own for every abort would cost more than the rest of a deadline. */
const notNeeded = new Error('the deadline was moved or cleared');

/** Calls `passed` once, when the deadline's last setting is over. Moving it later costs nothing: the timer looks again when it wakes. */
export const newDeadline = (clock: Clock, passed: () => void): Deadline => {
  let atMs = Number.POSITIVE_INFINITY;
  let sleep: Sleep | undefined;
  let over = false;

  const wait = async (current: Sleep): Promise<void> => {
    try {
      await clock.sleep(Math.max(0, current.untilMs - clock.now()), current.controller.signal);
    } catch (error) {
      if (current.controller.signal.aborted) return;
      throw error;
    }
    if (over || sleep !== current) return;
    sleep = undefined;
    if (clock.now() < atMs) return arm();
    over = true;
    passed();
  };

  const arm = (): void => {
    if (atMs === Number.POSITIVE_INFINITY) return;
    sleep = { untilMs: atMs, controller: new AbortController() };
    void wait(sleep);
  };

  return {
    set(nextMs) {
      atMs = nextMs;
      if (over || (sleep !== undefined && sleep.untilMs <= nextMs)) return;
      sleep?.controller.abort(notNeeded);
      arm();
    },
    clear() {
      over = true;
      sleep?.controller.abort(notNeeded);
    },
  };
};
