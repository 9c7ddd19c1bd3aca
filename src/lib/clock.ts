/** Time, as everything that waits sees it. */
export interface Clock {
  now(): number;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** `setTimeout` counts in 32 bits; longer waits are cut into pieces. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => (ms <= longestTimerMs ? pause(ms, signal) : pauseInPieces(ms, signal)),
};

const pauseInPieces = async (ms: number, signal?: AbortSignal): Promise<void> => {
  for (let left = ms; left > 0; left -= longestTimerMs) await pause(Math.min(left, longestTimerMs), signal);
};

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });

/** True after the time, false when aborted before. */
export const slept = async (clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> => {
  if (signal.aborted) return false;
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
};

export interface ManualClock extends Clock {
  /** Moves time on and wakes whoever has waited long enough, in order of their time. */
  advance(ms: number): Promise<void>;
  /** How many sleepers there are. */
  waiting(): number;
}

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

/** A clock that only moves when told, so that tests do not sleep. */
export const manualClock = (startMs = Date.UTC(2026, 0, 1)): ManualClock => {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return {
    now: () => nowMs,
    waiting: () => sleepers.size,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const sleeper: Sleeper = {
          atMs: nowMs + ms,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        await settle();
        const next = [...sleepers].filter((s) => s.atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
      }
      nowMs = untilMs;
      await settle();
    },
  };
};
