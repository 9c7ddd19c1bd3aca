import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { eachStore } from '../../../test/support/stores.ts';
import { StoreError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { claimLane, holdLane, turnLane } from '../lanes.ts';
import { indexNewMessages, searchMessages } from '../search.ts';
import { SqliteStore } from '../sqlite.ts';
import type { Store } from '../store.ts';
import { pageOfMessages } from '../transcripts.ts';
import { erasedText, erasePerson } from './erase-person.ts';
import { findPerson } from './find-person.ts';
import { fillWithPeople, other, planted } from './person.test-support.ts';

const tableNames = async (store: Store): Promise<readonly string[]> => {
  const query = store.engine === 'sqlite' ? sql<{ name: string }>`select name from sqlite_master where type = 'table' and name not like 'message_search%' and name not like 'sqlite_%'` : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'message_search'`;
  return (await store.read((db) => query.execute(db.q))).rows.map(({ name }) => name);
};

/** Tables in which a word stands, anywhere. */
const tablesWith = async (store: Store, word: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const name of await tableNames(store)) {
    const { rows } = await store.read((db) => sql`select * from ${sql.table(name)}`.execute(db.q));
    if (JSON.stringify(rows).includes(word)) found.push(name);
  }
  return found.toSorted();
};

const erase = async (store: Store) => erasePerson(store, planted, await store.read((db) => findPerson(db, planted)));

eachStore((_engine, open) => {
  test('nothing of a person is left in any table, and everybody else keeps everything', async () => {
    const { store } = await open();
    await fillWithPeople(store);
    await indexNewMessages(store);
    const before = await tablesWith(store, 'other');
    assert.ok((await tablesWith(store, 'planted')).length >= 15);
    const rows = await erase(store);
    assert.deepEqual(await tablesWith(store, 'planted'), []);
    assert.deepEqual(await tablesWith(store, 'other'), before);
    assert.deepEqual([rows['conversations'], rows['messages'], rows['messages in shared conversations'], rows['jobs'], rows['pairings']], [2, 3, 3, 1, 1]);
    const shared = await store.read((db) => pageOfMessages(db, 'shared', { afterId: 0, limit: 10, activeOnly: false }));
    assert.deepEqual(shared.map(({ message }) => message.content), [erasedText, '[other name] other words', erasedText, erasedText]);
    assert.deepEqual((await searchMessages(store, { text: 'planted', limit: 5 })).length, 0);
    assert.deepEqual((await searchMessages(store, { text: 'other words', limit: 5 })).length, 2);
  });

  test('a second time there is nothing left to erase', async () => {
    const { store } = await open();
    await fillWithPeople(store);
    await erase(store);
    assert.deepEqual(await erase(store), {});
    assert.equal((await store.read((db) => findPerson(db, other))).sessionIds.length, 2);
  });

  test('a turn that runs in an erased conversation can write no more', async () => {
    const { store } = await open();
    await fillWithPeople(store);
    const lane = turnLane('dm_planted');
    const claim = await store.write((tx) => claimLane(tx, { lane, owner: 'node', leaseMs: 60_000 }));
    assert.ok(claim !== undefined);
    await erase(store);
    await assert.rejects(store.write((tx) => holdLane(tx, claim, 1000)), (error) => error instanceof StoreError && error.code === 'lane_lost');
  });
});

test('every table that belongs to a conversation or a person is known to whoever erases them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-erase-'));
  t.after(() => rm(folder, { recursive: true }));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  const { rows } = await store.read((db) => sql<{ name: string }>`select distinct m.name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' and c.name in ('session_id', 'user_id')`.execute(db.q));
  await store.close();
  const text = (await Promise.all(['./erase-person.ts', '../delete-sessions.ts'].map((file) => readFile(new URL(file, import.meta.url), 'utf8')))).join('');
  assert.deepEqual(rows.map(({ name }) => name).filter((name) => !text.includes(`'${name}'`)), []);
});

test('what was erased cannot be read in the file either', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-erase-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'gateway.db');
  const store = new SqliteStore({ path, clock: systemClock, checkIntegrity: false });
  await fillWithPeople(store);
  await erase(store);
  await store.close();
  const bytes = await readFile(path);
  assert.ok(bytes.includes('other words'));
  assert.ok(!bytes.includes('planted'));
});
