import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, it } from 'node:test';
import { restoreDatabase, trackDatabase } from './record-store.ts';

before(async () => {
  const { default: _same, forceCloseDatabase: _unused, ...classes } = await import('fake-indexeddb');
  Object.assign(globalThis, classes);
});

const opened = (name: string, version: number, upgrade: (database: IDBDatabase) => void = () => undefined): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => upgrade(request.result);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('not opened'));
  });

const written = (database: IDBDatabase, work: (store: IDBObjectStore) => void, store = 'things'): Promise<void> =>
  new Promise((resolve, reject) => {
    const writing = database.transaction(store, 'readwrite');
    writing.oncomplete = () => resolve();
    writing.onabort = () => reject(new Error('aborted'));
    work(writing.objectStore(store));
  });

const asked = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('not read'));
  });

const withThings = (database: IDBDatabase): void => {
  database.createObjectStore('things').createIndex('by-kind', 'kind');
  database.createObjectStore('others', { keyPath: 'id' });
};

it('a database is what its rows say, with its indexes, whatever its records hold', async () => {
  const name = randomUUID();
  const database = await opened(name, 3, withThings);
  const tracked = trackDatabase(name, new Map());
  const value = { kind: 'key', bytes: new Uint8Array([1, 2, 255]), when: new Date(5), nested: new Map([['a', 1n]]) };
  await written(database, (store) => store.put(value, 'odd \u001d key'));
  await written(database, (store) => store.put({ id: 7, x: 'y' }), 'others');
  const rows = tracked.changes().set;
  database.close();

  const copy = randomUUID();
  await restoreDatabase(copy, rows);
  const restored = await opened(copy, 3);
  const reading = restored.transaction(['things', 'others']);
  assert.deepEqual(await asked(reading.objectStore('things').index('by-kind').getAll('key')), [value]);
  assert.deepEqual(await asked(reading.objectStore('others').get(7)), { id: 7, x: 'y' });
  const { set, remove } = trackDatabase(copy, rows).changes();
  assert.deepEqual([set.size, remove], [0, []], 'nothing differs');
  restored.close();
});

it('what is saved is what has changed, and it is told again until it is saved', async () => {
  const name = randomUUID();
  const database = await opened(name, 1, withThings);
  const tracked = trackDatabase(name, new Map());
  await written(database, (store) => {
    for (const key of ['a', 'b', 'c']) store.put({ kind: key }, key);
  });
  tracked.changes();
  tracked.saved();
  await written(database, (store) => {
    store.put({ kind: 'changed' }, 'b');
    store.delete('c');
  });
  const change = (): [string[], readonly string[]] => [[...tracked.changes().set.keys()], tracked.changes().remove];
  assert.deepEqual(change(), [['things "b"'], ['things "c"']]);
  assert.deepEqual(change(), [['things "b"'], ['things "c"']]);
  tracked.saved();
  assert.deepEqual(change(), [[], []]);
  await written(database, (store) => void store.clear());
  assert.deepEqual(change()[1].toSorted(), ['things "a"', 'things "b"']);
  database.close();
});

it('a write that was undone leaves what was there', async () => {
  const name = randomUUID();
  const database = await opened(name, 1, withThings);
  const tracked = trackDatabase(name, new Map());
  await written(database, (store) => store.put({ kind: 'kept' }, 'a'));
  tracked.changes();
  tracked.saved();
  await assert.rejects(written(database, (store) => {
    store.put({ kind: 'undone' }, 'a');
    store.transaction.abort();
  }));
  const rows = tracked.changes().set;
  const copy = randomUUID();
  await restoreDatabase(copy, new Map([['!schema', JSON.stringify({ version: 1, stores: [{ name: 'things', keyPath: null, autoIncrement: false, indexes: [] }] })], ...rows]));
  const restored = await opened(copy, 1);
  assert.deepEqual(await asked(restored.transaction('things').objectStore('things').get('a')), rows.size === 0 ? undefined : { kind: 'kept' });
  restored.close();
  database.close();
});
