import { mergeIndex } from '../sessions/search.ts';
import type { Store, Writing } from '../store.ts';

const owedKey = 'scrub_owed';

/** Said before something is deleted that nobody shall read again: a gateway makes up for whoever is interrupted before `scrub`. */
export const oweScrub = async (tx: Writing): Promise<void> => {
  if (tx.engine === 'sqlite') await tx.q.insertInto('meta').values({ key: owedKey, value: '1' }).onConflict((conflict) => conflict.column('key').doNothing()).execute();
};

/**
 * What was deleted is overwritten in an embedded database; this takes it out of the search index and the write-ahead log as well. False: somebody
 * read for all of `patienceMs`; a gateway does the rest (see `scrubIfOwed`), and so does whoever closes the database last.
 */
export const scrub = async (store: Store, patienceMs: number): Promise<boolean> => {
  if (store.engine !== 'sqlite') return true;
  while (await store.write(mergeIndex));
  if (!(await store.emptyLog(patienceMs))) return false;
  await store.write((tx) => tx.q.deleteFrom('meta').where('key', '=', owedKey).execute());
  return true;
};

/** What somebody who deleted could not wait for, or was interrupted in. Undefined when there is nothing to do, else whether it is done. */
export const scrubIfOwed = async (store: Store): Promise<boolean | undefined> => {
  if (store.engine !== 'sqlite') return undefined;
  const owed = await store.read((db) => db.q.selectFrom('meta').select('value').where('key', '=', owedKey).executeTakeFirst());
  return owed === undefined ? undefined : scrub(store, 0);
};
