import type { Store, Writing } from '../store/store.ts';

/** Carries the result of work whose effects are not wanted out of its transaction. */
class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('this was only to see what would happen');
    this.result = result;
  }
}

/** What work would answer if it were carried out; the database stays as it is. */
const tryOut = async <T>(store: Store, work: (tx: Writing) => Promise<T>): Promise<T> => {
  try {
    return await store.write(async (tx) => {
      throw new Undone(await work(tx));
    });
  } catch (error) {
    if (error instanceof Undone) return error.result as T;
    throw error;
  }
};

/** Carries a change out, or only sees what would come of it. */
export type Attempt = <T>(work: (tx: Writing) => Promise<T>) => Promise<T>;

export const attemptIn =
  (store: Store, dryRun: boolean): Attempt =>
  (work) =>
    dryRun ? tryOut(store, work) : store.write(work);
