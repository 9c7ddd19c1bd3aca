import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { accountData } from '../accounts/account-data.ts';
import type { Store } from '../store.ts';
import { sqliteFile } from './sqlite.test-support.ts';

const file = sqliteFile();

const pages = async (store: Store): Promise<number> =>
  store.write(async (tx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx.q);
    return rows[0]?.page_count ?? 0;
  });

const limitPages = (store: Store, count: number): Promise<unknown> => store.write((tx) => sql`pragma max_page_count = ${sql.lit(count)}`.execute(tx.q));

test('without space a write fails as full and leaves nothing half-written; with space again, writes work again', async () => {
  const store = file.open();
  const data = accountData(store, 'a');
  await limitPages(store, (await pages(store)) + 2);
  const big = store.write(async (tx) => {
    await tx.q.insertInto('account_values').values({ account: 'a', key: 'half', value: 'small' }).execute();
    tx.notify('lane', 'never');
    await tx.q.insertInto('account_values').values({ account: 'a', key: 'big', value: 'v'.repeat(100_000) }).execute();
  });
  const heard: string[] = [];
  store.listen('lane', (lane) => heard.push(lane));
  await assert.rejects(big, { name: 'StoreError', code: 'full' });
  assert.deepEqual(await data.list(''), []);
  await data.set('small', 'fits');
  assert.deepEqual(heard, []);
  await limitPages(store, 1_000_000);
  await data.set('large', 'v'.repeat(100_000));
  assert.deepEqual((await data.list('')).map((row) => row.key), ['large', 'small']);
});

test('what fits is written, though what it shared a commit with does not', async () => {
  const store = file.open();
  const data = accountData(store, 'a');
  await limitPages(store, (await pages(store)) + 2);
  const heard: string[] = [];
  store.listen('lane', (lane) => heard.push(lane));
  const notifying = store.write(async (tx) => {
    await tx.q.insertInto('account_values').values({ account: 'a', key: 'second', value: 'v' }).execute();
    tx.notify('lane', 'once');
  });
  const results = await Promise.allSettled([data.set('first', 'v'), notifying, data.set('big', 'v'.repeat(100_000)), data.set('fourth', 'v')]);
  assert.deepEqual(results.map((result) => result.status), ['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  assert.deepEqual((await data.list('')).map((row) => row.key), ['first', 'fourth', 'second']);
  assert.deepEqual(heard, ['once']);
});

test('a caller that goes on after a full disk writes all of its rows or none', async () => {
  const store = file.open();
  await limitPages(store, (await pages(store)) + 2);
  const going = store.write(async (tx) => {
    const insert = (key: string, length: number) => tx.q.insertInto('account_values').values({ account: 'a', key, value: 'v'.repeat(length) }).execute();
    await insert('before', 1);
    await assert.rejects(insert('big', 100_000), { code: 'full' });
    await insert('after', 1);
  });
  const done = await going.then(
    () => true,
    () => false,
  );
  const keys = (await accountData(store, 'a').list('')).map((row) => row.key);
  assert.deepEqual(keys, done ? ['after', 'before'] : []);
});

test('a disk that is really full fails writes as full, keeps every acknowledged row, and recovers', async (t) => {
  const script = fileURLToPath(new URL('../../../test/support/fill-disk.ts', import.meta.url));
  const inside = 'mount -t tmpfs -o size=3m tmpfs "$1" || exit 77; exec "$2" "$3" "$1"';
  const child = promisify(execFile)('unshare', ['-rm', 'sh', '-c', inside, 'sh', file.folder, process.execPath, script]);
  const output = await child.catch((error: { code?: unknown; stderr?: string }) => {
    if (error.code === 'ENOENT' || error.code === 77 || error.code === 1 && /unshare/.test(error.stderr ?? '')) return undefined;
    throw error;
  });
  if (output === undefined) {
    t.skip('a file system of its own needs user namespaces');
    return;
  }
  const seen = JSON.parse(output.stdout) as Record<'codes' | 'acknowledged' | 'whileFull' | 'afterwards' | 'afterReopening', string[]>;
  assert.deepEqual(seen.codes, ['full']);
  assert.ok(seen.acknowledged.length > 20, 'some rows fitted');
  assert.deepEqual(seen.whileFull, seen.acknowledged.toSorted());
  assert.deepEqual(seen.afterwards, [...seen.whileFull, 'zzzz']);
  assert.deepEqual(seen.afterReopening, seen.afterwards);
});
