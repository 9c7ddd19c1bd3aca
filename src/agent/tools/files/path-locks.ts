import { foldPath } from './path-policy.ts';

/** Who writes a file, one at a time. One for the whole process. */
export interface PathLocks {
  /** Runs `work` alone among all who name one of these paths. Locks are taken in one order, so that nobody waits in a circle. */
  run<T>(paths: readonly string[], signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** `turn` never rejects. */
const waitFor = (turn: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });

export const newPathLocks = (): PathLocks => {
  /** The end of the queue of each path. */
  const tails = new Map<string, Promise<void>>();

  const acquire = async (path: string, signal: AbortSignal): Promise<() => void> => {
    const before = tails.get(path) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const tail = before.then(() => promise);
    tails.set(path, tail);
    const release = (): void => {
      resolve();
      void tail.then(() => tails.get(path) === tail && tails.delete(path));
    };
    try {
      await waitFor(before, signal);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    async run(paths, signal, work) {
      const releases: (() => void)[] = [];
      try {
        for (const path of [...new Set(paths.map(foldPath))].toSorted()) releases.push(await acquire(path, signal));
        return await work();
      } finally {
        for (const release of releases) release();
      }
    },
  };
};
