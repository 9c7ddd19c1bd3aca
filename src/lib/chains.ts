/** Work that is done one after another for each key, and side by side for different ones. */
export interface Chains {
  /** Begins when everything that was given before under the key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export const newChains = (): Chains => {
  const ends = new Map<string, Promise<unknown>>();
  return {
    run(key, work) {
      const before = ends.get(key);
      const done = before === undefined ? work() : before.then(work, work);
      ends.set(key, done);
      const forget = (): void => {
        if (ends.get(key) === done) ends.delete(key);
      };
      done.then(forget, forget);
      return done;
    },
  };
};
