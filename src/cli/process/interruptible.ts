import { Exit } from '../environment.ts';

/** Lets work that Ctrl-C or SIGTERM calls off tidy up after itself before the process leaves. */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw new Exit(130);
    throw error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
};
