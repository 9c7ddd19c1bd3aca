import { deserialize, serialize } from 'node:v8';

/** What the stand-in for IndexedDB keeps inside: its interface tells nobody what was written. */
interface RawStore {
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly autoIncrement: boolean;
  readonly records: { get(key: IDBValidKey): { readonly value: unknown } | undefined; values(): Iterable<{ readonly key: IDBValidKey; readonly value: unknown }> };
  readonly rawIndexes: ReadonlyMap<string, { readonly name: string; readonly keyPath: string | string[]; readonly multiEntry: boolean; readonly unique: boolean }>;
  storeRecord(...rest: readonly unknown[]): IDBValidKey;
  deleteRecord(key: unknown, ...rest: readonly unknown[]): void;
  clear(...rest: readonly unknown[]): void;
}

interface RawDatabase {
  readonly version: number;
  readonly rawObjectStores: ReadonlyMap<string, RawStore>;
}

interface Schema {
  readonly version: number;
  readonly stores: readonly {
    readonly name: string;
    readonly keyPath: string | string[] | null;
    readonly autoIncrement: boolean;
    readonly indexes: readonly { readonly name: string; readonly keyPath: string | string[]; readonly multiEntry: boolean; readonly unique: boolean }[];
  }[];
}

/** Rows by which a database is kept: one for its shape, one for each record. */
export interface Changes {
  readonly set: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

const schemaRow = '!schema';

const encode = (value: unknown): string => serialize(value).toString('base64');
const decode = (value: string): unknown => deserialize(Buffer.from(value, 'base64'));

const rowOf = (store: string, key: IDBValidKey): string => `${store} ${JSON.stringify(key)}`;

const readRow = (row: string): { store: string; key: IDBValidKey } => {
  const space = row.indexOf(' ');
  return { store: row.slice(0, space), key: JSON.parse(row.slice(space + 1)) as IDBValidKey };
};

const settled = (request: IDBOpenDBRequest | IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (): void => reject(request.error ?? new Error('the key store could not be opened'));
    request.onerror = fail;
    if ('onsuccess' in request) request.onsuccess = () => resolve();
    else request.oncomplete = () => resolve();
  });

/** Makes the database as it was when its rows were written. */
export const restoreDatabase = async (name: string, rows: ReadonlyMap<string, string>): Promise<void> => {
  const stored = rows.get(schemaRow);
  if (stored === undefined) return;
  const schema = JSON.parse(stored) as Schema;
  const opening = indexedDB.open(name, schema.version);
  opening.onupgradeneeded = () => {
    for (const { name: storeName, keyPath, autoIncrement, indexes } of schema.stores) {
      const store = opening.result.createObjectStore(storeName, { keyPath, autoIncrement });
      for (const index of indexes) store.createIndex(index.name, index.keyPath, { multiEntry: index.multiEntry, unique: index.unique });
    }
  };
  await settled(opening);
  const records = [...rows].filter(([row]) => row !== schemaRow).map(([row, value]) => ({ ...readRow(row), value: decode(value) }));
  const writing = opening.result.transaction(schema.stores.map((store) => store.name), 'readwrite');
  for (const { store, key, value } of records) {
    const target = writing.objectStore(store);
    if (target.keyPath === null) target.put(value, key);
    else target.put(value);
  }
  await settled(writing);
  opening.result.close();
};

const schemaOf = ({ version, rawObjectStores }: RawDatabase): string => {
  const stores = [...rawObjectStores.values()].map(({ name, keyPath, autoIncrement, rawIndexes }) => ({
    name,
    keyPath,
    autoIncrement,
    indexes: [...rawIndexes.values()].map((index) => ({ name: index.name, keyPath: index.keyPath, multiEntry: index.multiEntry, unique: index.unique })),
  }));
  return JSON.stringify({ version, stores } satisfies Schema);
};

/** Keeps account of what is written into a database, so that what is saved is as much as has changed. */
export interface Tracked {
  /** What differs from the rows that were saved; the same again until `saved`. */
  changes(): Changes;
  saved(): void;
}

const isKey = (key: unknown): key is IDBValidKey => typeof key === 'string' || typeof key === 'number' || Array.isArray(key);

/** Begins with whatever differs from `rows`. */
export const trackDatabase = (name: string, rows: ReadonlyMap<string, string>): Tracked => {
  const database = (indexedDB as unknown as { readonly _databases: ReadonlyMap<string, RawDatabase> })._databases.get(name);
  if (database === undefined) throw new Error('the key store was not made');
  const known = new Set([...rows.keys()].filter((row) => row !== schemaRow));
  const dirty = new Set<string>();
  let schema = schemaOf(database) === rows.get(schemaRow) ? undefined : schemaOf(database);

  const wholeStore = (store: RawStore): void => {
    for (const { key } of store.records.values()) dirty.add(rowOf(store.name, key));
    for (const row of known) if (row.startsWith(`${store.name} `)) dirty.add(row);
  };
  const watch = (store: RawStore): void => {
    const [put, remove, clear] = [store.storeRecord.bind(store), store.deleteRecord.bind(store), store.clear.bind(store)];
    store.storeRecord = (...rest) => {
      const key = put(...rest);
      dirty.add(rowOf(store.name, key));
      return key;
    };
    store.deleteRecord = (key, ...rest) => {
      if (isKey(key)) dirty.add(rowOf(store.name, key));
      else wholeStore(store);
      remove(key, ...rest);
    };
    store.clear = (...rest) => {
      wholeStore(store);
      clear(...rest);
    };
  };

  for (const store of database.rawObjectStores.values()) {
    watch(store);
    for (const { key, value } of store.records.values()) if (rows.get(rowOf(store.name, key)) !== encode(value)) dirty.add(rowOf(store.name, key));
  }
  for (const row of known) {
    const { store, key } = readRow(row);
    if (database.rawObjectStores.get(store)?.records.get(key) === undefined) dirty.add(row);
  }

  const collect = (): { set: Map<string, string>; remove: string[] } => {
    const set = new Map<string, string>(schema === undefined ? [] : [[schemaRow, schema]]);
    const remove: string[] = [];
    for (const row of dirty) {
      const { store, key } = readRow(row);
      const record = database.rawObjectStores.get(store)?.records.get(key);
      if (record !== undefined) set.set(row, encode(record.value));
      else if (known.has(row)) remove.push(row);
    }
    return { set, remove };
  };
  let pending: ReturnType<typeof collect> | undefined;

  return {
    changes: () => (pending = collect()),
    saved() {
      for (const row of pending?.set.keys() ?? []) if (row !== schemaRow) known.add(row);
      for (const row of pending?.remove ?? []) known.delete(row);
      schema = undefined;
      dirty.clear();
    },
  };
};
