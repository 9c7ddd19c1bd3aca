import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { accountData } from './account-data.ts';
import { SqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';

let folder = '';
let path = '';
let opened: SqliteStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hermes-sqlite-'));
  path = join(folder, 'gateway.db');
});

afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

const open = (options: { checkIntegrity?: boolean; busyMs?: number; onNotify?: (channel: string, payload: string) => void } = {}): SqliteStore => {
  const store = new SqliteStore({ path, clock: systemClock, checkIntegrity: true, ...options });
  opened.push(store);
  return store;
};

const fill = async (store: Store, rows: number): Promise<void> => {
  await store.write(async (tx) => {
    for (let i = 0; i < rows; i += 1) await tx.q.insertInto('account_values').values({ account: 'a', key: `k${i}`, value: 'v'.repeat(500) }).execute();
  });
};

const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('only the owner may read the file and what SQLite keeps beside it', async () => {
  const before = process.umask(0o000);
  try {
    await fill(open(), 10);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(modeOf(file), 0o600, file);
  } finally {
    process.umask(before);
  }
});

test('a file that others could read no longer can', async () => {
  await open().close();
  chmodSync(path, 0o644);
  await fill(open(), 1);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(modeOf(file), 0o600, file);
});

const damaged = (error: unknown): boolean => {
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'corrupt');
  assert.match(error.message, /gateway\.db is damaged .*keep a copy.*restore a backup.*\.recover/);
  return true;
};

test('a file that is no database is refused with the way out, and left as it is', () => {
  writeFileSync(path, 'this is not a database, but it is long enough to be taken for a header '.repeat(50));
  const before = readFileSync(path);
  for (const checkIntegrity of [true, false]) assert.throws(() => open({ checkIntegrity }), damaged);
  assert.deepEqual(readFileSync(path), before);
});

test('a file that was cut off is refused with the way out', async () => {
  const store = open();
  await fill(store, 500);
  await store.close();
  truncateSync(path, Math.floor(statSync(path).size / 2));
  assert.throws(() => open(), damaged);
});

test('a file with overwritten pages is refused with the way out', async () => {
  const store = open();
  await fill(store, 500);
  await store.close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 8 * 4096, 60 * 4096);
  writeFileSync(path, bytes);
  assert.throws(() => open(), damaged);
});

test('damage that only a look at the whole file finds is found at the start, or else fails the read that meets it', async () => {
  const store = open();
  await fill(store, 2000);
  await store.close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, Math.floor(bytes.length / 2));
  writeFileSync(path, bytes);
  assert.throws(() => open(), damaged);
  const unchecked = open({ checkIntegrity: false });
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
  await open().close();
  chmodSync(folder, 0o755);
  chmodSync(path, 0o444);
  asOther(() => assert.throws(() => open(), unwritable));
  chmodSync(path, 0o666);
  chmodSync(folder, 0o555);
  if (process.geteuid?.() === 0) chownSync(path, 65_534, 65_534);
  asOther(() => assert.throws(() => open(), unwritable));
});

test('a missing folder and a folder in place of the file are refused alike', () => {
  const file = path;
  path = join(folder, 'missing', 'gateway.db');
  assert.throws(() => open(), unwritable);
  path = file;
  mkdirSync(path);
  assert.throws(() => open(), unwritable);
});

const pages = async (store: Store): Promise<number> =>
  store.write(async (tx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx.q);
    return rows[0]?.page_count ?? 0;
  });

const limitPages = (store: Store, count: number): Promise<unknown> => store.write((tx) => sql`pragma max_page_count = ${sql.lit(count)}`.execute(tx.q));

test('without space a write fails as full and leaves nothing half-written; with space again, writes work again', async () => {
  const store = open();
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
  const store = open();
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
  const store = open();
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
  const script = fileURLToPath(new URL('../../test/support/fill-disk.ts', import.meta.url));
  const inside = 'mount -t tmpfs -o size=3m tmpfs "$1" || exit 77; exec "$2" "$3" "$1"';
  const child = promisify(execFile)('unshare', ['-rm', 'sh', '-c', inside, 'sh', folder, process.execPath, script]);
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

test('while another process holds the file too long, writes fail as busy; afterwards they work again', async () => {
  const store = open({ busyMs: 100 });
  const holder = new DatabaseSync(path);
  holder.exec('begin immediate');
  const writes = await Promise.allSettled([accountData(store, 'a').set('k', '1'), accountData(store, 'a').set('l', '1')]);
  for (const write of writes) assert.ok(write.status === 'rejected' && write.reason instanceof StoreError && write.reason.code === 'busy');
  holder.exec('rollback');
  holder.close();
  await accountData(store, 'a').set('k', '2');
  assert.deepEqual(await accountData(store, 'a').list(''), [{ key: 'k', value: '2' }]);
});

test('while another process holds the file, writes wait for it and everything else goes on', async () => {
  const store = open();
  const data = accountData(store, 'a');
  await data.set('before', '1');
  const holder = new DatabaseSync(path);
  holder.exec('begin exclusive');
  let written = false;
  const writing = Promise.all([data.set('k', '1'), data.set('l', '2')]).then(() => (written = true));
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await data.list(''), [{ key: 'before', value: '1' }]);
  assert.equal(written, false);
  holder.exec('commit');
  holder.close();
  await writing;
  assert.deepEqual((await data.list('')).map((row) => row.key), ['before', 'k', 'l']);
});

test('a large log is cut off, the search index goes on finding, and the planner is left as it is', async () => {
  const store = open();
  const log = (): number => statSync(`${path}-wal`).size;
  // As while a backup reads: nothing that was written since can be taken over.
  const reading = new DatabaseSync(path, { readOnly: true });
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

test('a listener that is told early can write into the same commit, and fails with it', async () => {
  const store = open();
  const insert = (key: string, length = 1) => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key, value: 'v'.repeat(length) }).execute());
  const followers: Promise<unknown>[] = [];
  store.listen('lane', (lane) => followers.push(insert(`after ${lane}`)), 'written');
  const announce = (lane: string, then: () => void): Promise<void> =>
    store.write(async (tx) => {
      tx.notify('lane', lane);
      await tx.q.insertInto('account_values').values({ account: 'a', key: lane, value: 'v' }).execute();
      then();
    });
  const commits = (): number => statSync(`${path}-wal`).size;
  await insert('first');
  const before = commits();
  await insert('alone');
  const one = commits() - before;
  await announce('l1', () => undefined);
  await Promise.all(followers.splice(0));
  assert.ok(commits() - before - one <= one, 'both were written by one commit');
  await assert.rejects(
    announce('l2', () => {
      throw new Error('rolled back');
    }),
  );
  assert.deepEqual(followers, []);
  assert.deepEqual((await accountData(store, 'a').list('')).map((row) => row.key), ['after l1', 'alone', 'first', 'l1']);
});

test('notifications of this store are handed on, and those of another process are delivered', async () => {
  const handed: string[] = [];
  const heard: string[] = [];
  const store = open({ onNotify: (channel, payload) => handed.push(`${channel} ${payload}`) });
  store.listen('lane', (lane) => heard.push(lane));
  await store.write(async (tx) => tx.notify('lane', 'mine'));
  await store.write(async () => undefined);
  store.deliver('lane', 'theirs');
  assert.deepEqual(handed, ['lane mine']);
  assert.deepEqual(heard, ['mine', 'theirs']);
});

test('writes of one moment share a commit', async () => {
  const store = open();
  const frames = async (): Promise<number> => statSync(`${path}-wal`).size;
  const write = (i: number) => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key: `k${i}`, value: 'v' }).execute());
  await write(0);
  const start = await frames();
  for (let i = 1; i <= 32; i += 1) await write(i);
  const oneByOne = (await frames()) - start;
  await Promise.all(Array.from({ length: 32 }, (_, i) => write(100 + i)));
  const together = (await frames()) - start - oneByOne;
  assert.ok(together * 8 < oneByOne, `${together} bytes together, ${oneByOne} one by one`);
});

test('a row whose number is beyond what JavaScript can count disturbs nothing', async () => {
  const store = open();
  const data = accountData(store, 'a');
  await store.write(async (tx) => {
    await sql`create temp table large (id integer primary key)`.execute(tx.q);
    await sql`insert into large (id) values (9010085472763904)`.execute(tx.q);
    await tx.q.insertInto('account_values').values({ account: 'a', key: 'before', value: 'v' }).execute();
    await sql`insert into large (id) values (9010085472763905)`.execute(tx.q);
  });
  await data.set('after', 'v');
  assert.deepEqual((await data.list('')).map((row) => row.key), ['after', 'before']);
});

test('who listens early is told before the commit, and what it writes comes true with what it heard of', async () => {
  const store = open();
  const data = accountData(store, 'a');
  const order: string[] = [];
  const answers: Promise<unknown>[] = [];
  const answer = (lane: string): void => {
    order.push(`heard ${lane}`);
    answers.push(store.write(async (tx) => {
      const heard = await tx.q.selectFrom('account_values').select('key').where('key', '=', lane).execute();
      await tx.q.insertInto('account_values').values({ account: 'a', key: `${lane}, answered`, value: String(heard.length) }).execute();
    }));
  };
  store.listen('lane', answer, 'written');
  await store.write(async (tx) => {
    await tx.q.insertInto('account_values').values({ account: 'a', key: 'work', value: 'v' }).execute();
    tx.notify('lane', 'work');
  });
  order.push('committed');
  assert.deepEqual(order, ['heard work', 'committed']);
  assert.deepEqual((await data.list('work')).map((row) => row.key), ['work', 'work, answered']);
  assert.equal(await data.get('work, answered'), '1');
  await Promise.all(answers);
});

test('who listens early hears nothing of a write that failed', async () => {
  const store = open();
  const heard: string[] = [];
  store.listen('lane', (lane) => heard.push(lane), 'written');
  const failing = store.write(async (tx) => {
    tx.notify('lane', 'undone');
    throw new StoreError('failed', 'on purpose');
  });
  await assert.rejects(failing, /on purpose/);
  assert.deepEqual(heard, []);
});

test('a patient write is written by itself, with the next one, or at the end', async () => {
  const store = open();
  const put = (key: string, patient: boolean): Promise<unknown> => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key, value: 'v' }).execute(), { patient });
  await put('alone', true);
  const order: string[] = [];
  await Promise.all([put('patient', true).then(() => order.push('patient')), put('urgent', false).then(() => order.push('urgent'))]);
  assert.deepEqual(order, ['patient', 'urgent']);
  const last = put('last', true);
  await store.close();
  await last;
  assert.deepEqual((await accountData(open(), 'a').list('')).map((row) => row.key), ['alone', 'last', 'patient', 'urgent']);
});
