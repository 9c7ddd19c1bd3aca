import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sql } from 'kysely';
import { accountData } from '../accounts/account-data.ts';
import type { Store } from '../store.ts';
import { sqliteFile } from './sqlite.test-support.ts';

const file = sqliteFile();

const fill = async (store: Store, rows: number): Promise<void> => {
  await store.write(async (tx) => {
    for (let i = 0; i < rows; i += 1) await tx.q.insertInto('account_values').values({ account: 'a', key: `k${i}`, value: 'v'.repeat(500) }).execute();
  });
};

const assertPrivate = (): void => {
  for (const path of [file.path, `${file.path}-wal`, `${file.path}-shm`]) assert.equal(statSync(path).mode & 0o777, 0o600, path);
};

test('only the owner may read the file and what SQLite keeps beside it', async () => {
  const before = process.umask(0o000);
  try {
    await fill(file.open(), 10);
    assertPrivate();
  } finally {
    process.umask(before);
  }
});

test('a file that others could read no longer can', async () => {
  await file.open().close();
  chmodSync(file.path, 0o644);
  await fill(file.open(), 1);
  assertPrivate();
});

const damaged = (error: unknown): boolean => {
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'corrupt');
  assert.match(error.message, /gateway\.db is damaged .*keep a copy.*restore a backup.*\.recover/);
  return true;
};

test('a file that is no database is refused with the way out, and left as it is', () => {
  writeFileSync(file.path, 'this is not a database, but it is long enough to be taken for a header '.repeat(50));
  const before = readFileSync(file.path);
  for (const checkIntegrity of [true, false]) assert.throws(() => file.open({ checkIntegrity }), damaged);
  assert.deepEqual(readFileSync(file.path), before);
});

test('a file that was cut off is refused with the way out', async () => {
  const store = file.open();
  await fill(store, 500);
  await store.close();
  truncateSync(file.path, Math.floor(statSync(file.path).size / 2));
  assert.throws(() => file.open(), damaged);
});

test('a file with overwritten pages is refused with the way out', async () => {
  const store = file.open();
  await fill(store, 500);
  await store.close();
  const bytes = readFileSync(file.path);
  bytes.fill(0x5a, 8 * 4096, 60 * 4096);
  writeFileSync(file.path, bytes);
  assert.throws(() => file.open(), damaged);
});

test('damage that only a look at the whole file finds is found at the start, or else fails the read that meets it', async () => {
  const store = file.open();
  await fill(store, 2000);
  await store.close();
  const bytes = readFileSync(file.path);
  bytes.fill(0x5a, Math.floor(bytes.length / 2));
  writeFileSync(file.path, bytes);
  assert.throws(() => file.open(), damaged);
  const unchecked = file.open({ checkIntegrity: false });
  await assert.rejects(accountData(unchecked, 'a').list(''), { name: 'StoreError', code: 'corrupt' });
});

/** Even when root runs the tests, as somebody to whom permissions apply. */
const asOther = (work: () => void): void => {
  if (process.geteuid?.() !== 0) {
    work();
    return;
  }
  process.seteuid?.(65_534);
  try {
    work();
  } finally {
    process.seteuid?.(0);
  }
};

const unwritable = (error: unknown): boolean => {
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'unwritable');
  assert.match(error.message, /gateway\.db cannot be opened for writing\. Check the owner and the permissions/);
  return true;
};

test('a file or folder that may not be written is refused, with what to check', async () => {
  await file.open().close();
  chmodSync(file.folder, 0o755);
  chmodSync(file.path, 0o444);
  asOther(() => assert.throws(() => file.open(), unwritable));
  chmodSync(file.path, 0o666);
  chmodSync(file.folder, 0o555);
  if (process.geteuid?.() === 0) chownSync(file.path, 65_534, 65_534);
  asOther(() => assert.throws(() => file.open(), unwritable));
});

test('a missing folder and a folder in place of the file are refused alike', () => {
  assert.throws(() => file.open({ path: join(file.folder, 'missing', 'gateway.db') }), unwritable);
  mkdirSync(file.path);
  assert.throws(() => file.open(), unwritable);
});

test('a large log is cut off, the search index goes on finding, and the planner is left as it is', async () => {
  const store = file.open();
  const log = (): number => statSync(`${file.path}-wal`).size;
  // As while a backup reads: nothing that was written since can be taken over.
  const reading = new DatabaseSync(file.path, { readOnly: true });
  reading.exec('begin');
  reading.prepare('select count(*) from meta').get();
  for (let i = 0; i < 10; i += 1) await store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key: `k${i}`, value: 'v'.repeat(2_000_000) }).execute());
  assert.ok(log() > 16 * 1024 * 1024);
  assert.deepEqual(await store.tidy(), { freedBytes: 0 });
  reading.exec('rollback');
  reading.close();
  const before = log();
  assert.deepEqual(await store.tidy(), { freedBytes: before });
  assert.equal(log(), 0);
  for (let i = 0; i < 20; i += 1) await store.write((tx) => tx.q.insertInto('message_search').values({ rowid: i + 1, tokens: `t${i} common` }).execute());
  assert.deepEqual(await store.tidy(), { freedBytes: 0 });
  const found = await store.read((db) => sql<{ rowid: number }>`select rowid from message_search where message_search match 'common'`.execute(db.q));
  assert.equal(found.rows.length, 20);
  const statistics = await store.read((db) => sql`select name from sqlite_master where name = 'sqlite_stat1'`.execute(db.q));
  assert.deepEqual(statistics.rows, []);
});
