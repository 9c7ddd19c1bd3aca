import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sql } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import { accountData } from '../accounts/account-data.ts';
import { sqliteFile } from './sqlite.test-support.ts';

const file = sqliteFile();

test('while another process holds the file too long, writes fail as busy; afterwards they work again', async () => {
  const store = file.open({ busyMs: 100 });
  const holder = new DatabaseSync(file.path);
  holder.exec('begin immediate');
  const writes = await Promise.allSettled([accountData(store, 'a').set('k', '1'), accountData(store, 'a').set('l', '1')]);
  for (const write of writes) assert.ok(write.status === 'rejected' && write.reason instanceof StoreError && write.reason.code === 'busy');
  holder.exec('rollback');
  holder.close();
  await accountData(store, 'a').set('k', '2');
  assert.deepEqual(await accountData(store, 'a').list(''), [{ key: 'k', value: '2' }]);
});

test('while another process holds the file, writes wait for it and everything else goes on', async () => {
  const store = file.open();
  const data = accountData(store, 'a');
  await data.set('before', '1');
  const holder = new DatabaseSync(file.path);
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

test('a listener that is told early can write into the same commit, and fails with it', async () => {
  const store = file.open();
  const insert = (key: string, length = 1) => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key, value: 'v'.repeat(length) }).execute());
  const followers: Promise<unknown>[] = [];
  store.listen('lane', (lane) => followers.push(insert(`after ${lane}`)), 'written');
  const announce = (lane: string, then: () => void): Promise<void> =>
    store.write(async (tx) => {
      tx.notify('lane', lane);
      await tx.q.insertInto('account_values').values({ account: 'a', key: lane, value: 'v' }).execute();
      then();
    });
  const commits = (): number => statSync(`${file.path}-wal`).size;
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

test('nothing is written by a read, whether or not somebody else is writing', async () => {
  const store = file.open();
  const data = accountData(store, 'a');
  await data.set('k', '1');
  const attempts = [sql`delete from account_values`, sql`with all_rows as (select account from account_values) delete from account_values where account in (select account from all_rows)`];
  const refused = async (): Promise<void> => {
    for (const attempt of attempts) await assert.rejects(store.read((db) => attempt.execute(db.q)), StoreError);
  };
  await refused();
  await store.write(async () => refused());
  assert.deepEqual(await data.list(''), [{ key: 'k', value: '1' }]);
});

test('what another process has written is read at once, also after writes of ours', async () => {
  const store = file.open();
  const data = accountData(store, 'a');
  await data.set('k', '1');
  assert.deepEqual(await data.list(''), [{ key: 'k', value: '1' }]);
  const other = new DatabaseSync(file.path);
  other.exec("update account_values set value = '2'");
  other.close();
  assert.deepEqual(await data.list(''), [{ key: 'k', value: '2' }]);
});

test('notifications of this store are handed on, and those of another process are delivered', async () => {
  const handed: string[] = [];
  const heard: string[] = [];
  const store = file.open({ onNotify: (channel, payload) => handed.push(`${channel} ${payload}`) });
  store.listen('lane', (lane) => heard.push(lane));
  await store.write(async (tx) => tx.notify('lane', 'mine'));
  await store.write(async () => undefined);
  store.deliver('lane', 'theirs');
  assert.deepEqual(handed, ['lane mine']);
  assert.deepEqual(heard, ['mine', 'theirs']);
});

test('writes of one moment share a commit', async () => {
  const store = file.open();
  const frames = async (): Promise<number> => statSync(`${file.path}-wal`).size;
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
  const store = file.open();
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
  const store = file.open();
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
  const store = file.open();
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
  const store = file.open();
  const put = (key: string, patient: boolean): Promise<unknown> => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key, value: 'v' }).execute(), { patient });
  await put('alone', true);
  const order: string[] = [];
  await Promise.all([put('patient', true).then(() => order.push('patient')), put('urgent', false).then(() => order.push('urgent'))]);
  assert.deepEqual(order, ['patient', 'urgent']);
  const last = put('last', true);
  await store.close();
  await last;
  assert.deepEqual((await accountData(file.open(), 'a').list('')).map((row) => row.key), ['alone', 'last', 'patient', 'urgent']);
});
