import { sql } from 'kysely';
import type { Reading, Store, Writing } from '../store.ts';

export interface JournalRow {
  readonly seq: number;
  readonly stream: string;
  readonly entry: string;
  readonly atMs: number;
}

const columns = ['seq', 'stream', 'entry', 'created_at'] as const;

const toEntry = (row: { seq: number; stream: string; entry: string; created_at: number }): JournalRow => ({ seq: row.seq, stream: row.stream, entry: row.entry, atMs: row.created_at });

/** Numbers must appear in the order in which they become visible, or a reader's cursor would skip one. */
const serialize = async (tx: Writing, account: string): Promise<void> => {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${`journal:${account}`}))`.execute(tx.q);
};

const append = async (tx: Writing, row: { account: string; stream: string; key: string; entry: string }): Promise<number> => {
  await serialize(tx, row.account);
  const inserted = await tx.q
    .insertInto('journal')
    .values({ ...row, created_at: tx.now })
    .onConflict((conflict) => conflict.columns(['account', 'stream', 'key']).doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (inserted !== undefined) {
    tx.notify('journal', row.account);
    return inserted.seq;
  }
  const known = await tx.q.selectFrom('journal').select('seq').where('account', '=', row.account).where('stream', '=', row.stream).where('key', '=', row.key).executeTakeFirstOrThrow();
  return known.seq;
};

const read = async (db: Reading, account: string, query: { stream?: string; after: number; limit: number }): Promise<JournalRow[]> => {
  let select = db.q.selectFrom('journal').select(columns).where('account', '=', account).where('seq', '>', query.after);
  if (query.stream !== undefined) select = select.where('stream', '=', query.stream);
  const rows = await select.orderBy('seq').limit(query.limit).execute();
  return rows.map(toEntry);
};

const tail = async (db: Reading, account: string, query: { stream?: string; before?: number; limit: number }): Promise<JournalRow[]> => {
  let select = db.q.selectFrom('journal').select(columns).where('account', '=', account);
  if (query.stream !== undefined) select = select.where('stream', '=', query.stream);
  if (query.before !== undefined) select = select.where('seq', '<', query.before);
  const rows = await select.orderBy('seq', 'desc').limit(query.limit).execute();
  return rows.toReversed().map(toEntry);
};

const setValue = async (tx: Writing, account: string, pair: { key: string; value: string }): Promise<void> => {
  await tx.q
    .insertInto('account_values')
    .values({ account, ...pair })
    .onConflict((conflict) => conflict.columns(['account', 'key']).doUpdateSet({ value: pair.value }))
    .execute();
};

const removeValue = async (tx: Writing, account: string, key: string): Promise<boolean> => {
  const result = await tx.q.deleteFrom('account_values').where('account', '=', account).where('key', '=', key).executeTakeFirst();
  return result.numDeletedRows === 1n;
};

interface Change {
  readonly key: string;
  readonly from: string | undefined;
  readonly to: string;
  readonly set: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

/** The guard's own row decides between two who try it side by side. */
const takeTurn = async (tx: Writing, account: string, { key, from, to }: Change): Promise<boolean> => {
  if (from === undefined) {
    const inserted = await tx.q.insertInto('account_values').values({ account, key, value: to }).onConflict((conflict) => conflict.columns(['account', 'key']).doNothing()).executeTakeFirst();
    return inserted.numInsertedOrUpdatedRows === 1n;
  }
  const updated = await tx.q.updateTable('account_values').set({ value: to }).where('account', '=', account).where('key', '=', key).where('value', '=', from).executeTakeFirst();
  return updated.numUpdatedRows === 1n;
};

const changeValues = async (tx: Writing, account: string, change: Change): Promise<boolean> => {
  if (!(await takeTurn(tx, account, change))) return false;
  for (const [key, value] of change.set) await setValue(tx, account, { key, value });
  for (const key of change.remove) await removeValue(tx, account, key);
  return true;
};

/** No character stands behind it, so it closes the range of keys with a given start. */
const lastCharacter = '\u{10FFFF}';

const listValues = async (db: Reading, account: string, prefix: string): Promise<{ key: string; value: string }[]> => {
  const rows = await db.q.selectFrom('account_values').select(['key', 'value']).where('account', '=', account).where('key', '>=', prefix).where('key', '<', prefix + lastCharacter).orderBy('key').execute();
  return rows.map(({ key, value }) => ({ key, value }));
};

/** The values that one account keeps, for whoever only looks. */
export const keptValues = (store: Pick<Store, 'read'>, account: string) => ({
  get: async (key: string): Promise<string | undefined> => {
    const row = await store.read((db) => db.q.selectFrom('account_values').select('value').where('account', '=', account).where('key', '=', key).executeTakeFirst());
    return row?.value;
  },
  list: (prefix: string): Promise<{ key: string; value: string }[]> => store.read((db) => listValues(db, account, prefix)),
});

/** What one account keeps across restarts; the shape that adapters know as `AccountData`. */
export const accountData = (store: Store, account: string) => ({
  ...keptValues(store, account),
  set: (key: string, value: string): Promise<void> => store.write((tx) => setValue(tx, account, { key, value })),
  /** Answers whether there was one. */
  remove: (key: string): Promise<boolean> => store.write((tx) => removeValue(tx, account, key)),
  /** All or nothing, and only while the guard is as it was read. */
  change: (change: Change): Promise<boolean> => store.write((tx) => changeValues(tx, account, change)),
  append: (stream: string, key: string, entry: string): Promise<number> => store.write((tx) => append(tx, { account, stream, key, entry })),
  read: (query: { stream?: string; after: number; limit: number }): Promise<JournalRow[]> => store.read((db) => read(db, account, query)),
  /** The newest entries, oldest first. */
  tail: (query: { stream?: string; before?: number; limit: number }): Promise<JournalRow[]> => store.read((db) => tail(db, account, query)),
  watch: (listener: () => void): Disposable =>
    store.listen('journal', (changed) => {
      if (changed === account) listener();
    }),
});
