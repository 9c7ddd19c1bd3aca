import type { Clock } from '../../src/lib/clock.ts';

export interface MovingClock extends Clock {
  /** Somebody sets the clock; whoever sleeps does not notice. */
  jump(ms: number): void;
  /** So much time goes by at once: whoever has slept long enough wakes. */
  pass(ms: number): void;
}

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

const everyMs = 5;
/** So much of the time between two looks counts: in a pause of a busy machine nobody could have done anything. */
const mostMs = 20;

/** Time that goes so many times as fast, stands still at 0, and can be set. */
export const movingClock = (speed: number): MovingClock => {
  const startMs = Date.now();
  const sleepers = new Set<Sleeper>();
  let [goneMs, setMs, lookedMs] = [0, 0, performance.now()];
  const look = (): void => {
    const nowMs = performance.now();
    goneMs += Math.min(nowMs - lookedMs, mostMs) * speed;
    lookedMs = nowMs;
  };
  const wake = (): void => {
    for (const sleeper of [...sleepers].filter(({ atMs }) => atMs <= goneMs).toSorted((a, b) => a.atMs - b.atMs)) sleeper.wake();
  };
  setInterval(() => {
    look();
    wake();
  }, everyMs).unref();
  return {
    now() {
      look();
      return Math.round(startMs + goneMs + setMs);
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        look();
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          atMs: goneMs + ms,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        sleepers.add(sleeper);
      }),
    jump: (ms) => void (setMs += ms),
    pass(ms) {
      look();
      goneMs += ms;
      wake();
    },
  };
};
