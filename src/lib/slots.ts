/** A fixed number of places; whoever finds none waits in line. */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export const newSlots = (count: number): Slots => {
  let free = count;
  const waiting: (() => void)[] = [];

  const enter = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      if (signal.aborted) reject(signal.reason);
      else if (free > 0) {
        free -= 1;
        resolve();
      } else {
        waiting.push(go);
        signal.addEventListener('abort', onAbort, { once: true });
      }
    });

  return {
    async run(signal, work) {
      await enter(signal);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
};
