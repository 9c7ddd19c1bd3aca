import { systemClock } from '../../src/lib/clock.ts';
import type { Clock } from '../../src/lib/clock.ts';

export interface MovingClock extends Clock {
  /** Somebody sets the clock; whoever sleeps does not notice. */
  jump(ms: number): void;
}

/** Time that goes so many times as fast, and can be set. */
export const movingClock = (speed: number): MovingClock => {
  const startMs = Date.now();
  let offsetMs = 0;
  return {
    now: () => Math.round(startMs + (Date.now() - startMs) * speed + offsetMs),
    sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
    jump: (ms) => void (offsetMs += ms),
  };
};
