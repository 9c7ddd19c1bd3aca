import { systemClock } from '../../lib/clock.ts';

/** Ends with `work`, with the caller's signal, or when the time is up, whatever `work` does with its own signal. */
export const withinTime = async <T>(timeoutMs: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const end = new AbortController();
  const inTime = AbortSignal.any([signal, end.signal]);
  const late = systemClock.sleep(timeoutMs, inTime).then(() => {
    throw new Error(`no answer within ${Math.round(timeoutMs / 1000)} seconds`);
  });
  try {
    return await Promise.race([work(inTime), late]);
  } finally {
    end.abort();
  }
};
