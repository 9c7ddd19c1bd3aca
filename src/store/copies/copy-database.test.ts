import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { SqliteStore } from '../engines/sqlite.ts';
import { schemaVersion } from '../migrations.ts';
import { checkCopy, copyDatabase, forgetAccountValues } from './copy-database.ts';

let folder = '';
let store: SqliteStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-copy-'));
  store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: systemClock, checkIntegrity: false });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const put = (key: string, account = 'telegram'): Promise<unknown> =>
  store.write((tx) => tx.q.insertInto('account_values').values({ account, key, value: 'v'.repeat(2000) }).execute());

const keysOf = (path: string): readonly unknown[] => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare('select account, key from account_values order by key').all().map((row) => `${row['account']}:${row['key']}`);
  } finally {
    db.close();
  }
};

test('a copy made while others write is whole, holds what was there at its start and ends', async () => {
  for (let i = 0; i < 3000; i += 1) void put(`before-${String(i).padStart(4, '0')}`);
  await put('before-last');
  const copy = join(folder, 'copy.db');
  const stop = new AbortController();
  const writer = (async () => {
    for (let i = 0; !stop.signal.aborted; i += 1) await put(`during-${i}`);
  })();
  const seen: number[] = [];
  assert.equal(await copyDatabase(join(folder, 'gateway.db'), copy, { onProgress: (done, total) => void seen.push(done / total) }), schemaVersion);
  stop.abort();
  await writer;
  assert.ok(seen.length > 3, 'in several steps');
  assert.deepEqual(seen.toSorted((a, b) => a - b), seen, 'it never begins anew');
  checkCopy(copy, schemaVersion);
  assert.deepEqual((await readdir(folder)).filter((name) => name.startsWith('copy')), ['copy.db'], 'no journal beside it');
  const keys = keysOf(copy).map(String);
  assert.equal(keys.filter((key) => key.includes('before-')).length, 3001);
  assert.equal((await stat(copy)).mode & 0o777, 0o600);
});

test('a copy can be called off', async () => {
  for (let i = 0; i < 1500; i += 1) void put(String(i));
  await put('last');
  const stop = new AbortController();
  await assert.rejects(copyDatabase(join(folder, 'gateway.db'), join(folder, 'copy.db'), { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) }), /enough/);
});

test('what accounts keep for themselves can be taken out of a copy without a trace', async () => {
  await put('secret-login');
  await put('chat', 'web');
  const copy = join(folder, 'copy.db');
  await copyDatabase(join(folder, 'gateway.db'), copy);
  forgetAccountValues(copy, ['web']);
  assert.deepEqual(keysOf(copy), ['web:chat']);
  checkCopy(copy, schemaVersion);
  assert.ok(!(await readFile(copy)).includes('secret-login'));
});
