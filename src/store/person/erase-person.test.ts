import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { eachStore } from '../../../test/support/stores.ts';
import { StoreError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { scrub, scrubIfOwed } from '../copies/scrub.ts';
import { SqliteStore } from '../engines/sqlite.ts';
import { claimLane, holdLane, turnLane } from '../lanes/lanes.ts';
import { closedGates, closeGate } from '../messages/gates.ts';
import { indexNewMessages, searchMessages } from '../sessions/search.ts';
import { pageOfMessages } from '../sessions/transcripts.ts';
import type { Store } from '../store.ts';
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
    assert.deepEqual([rows['conversations'], rows['messages'], rows['messages in shared conversations'], rows['jobs'], rows['pairings']], [2, 3, 3, 2, 1]);
    const shared = await store.read((db) => pageOfMessages(db, 'shared', { afterId: 0, limit: 10, activeOnly: false }));
    assert.deepEqual(shared.map(({ message }) => message.content), [
      erasedText,
      '[other name] other words',
      `[other name] [In reply to a message by somebody: "${erasedText}"]\n[In reply to a message by other name: "other quote"]\nother opinion`,
      `[other name] [Said in this thread before:\nsomebody: "${erasedText}"\nother name: "other quote"]\nother opinion`,
      erasedText,
      erasedText,
    ]);
    assert.equal(rows['quotes by others'], 2);
    assert.deepEqual((await searchMessages(store, { text: 'opinion', limit: 5 })).length, 2);
    assert.deepEqual((await searchMessages(store, { text: 'planted', limit: 5 })).length, 0);
    assert.deepEqual((await searchMessages(store, { text: 'other words', limit: 5 })).length, 2);
  });

  test('a chat of the same name elsewhere is not let out of its limits', async () => {
    const { store } = await open();
    await fillWithPeople(store);
    for (const account of ['telegram', 'telegram@work']) await store.write((tx) => closeGate(tx, { scope: `chat:${account}:planted-chat`, forMs: 60_000, reason: 'slow' }));
    await erase(store);
    assert.deepEqual((await store.read(closedGates)).map(({ scope }) => scope), ['chat:telegram@work:planted-chat']);
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
  const text = (await Promise.all(['./erase-person.ts', '../sessions/erase-session.ts', '../sessions/delete-sessions.ts'].map((file) => readFile(new URL(file, import.meta.url), 'utf8')))).join('');
  assert.deepEqual(rows.map(({ name }) => name).filter((name) => !text.includes(`'${name}'`)), []);
});

/** A database that a gateway has open, and the process that erases beside it. */
const newHome = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-erase-'));
  const path = join(folder, 'gateway.db');
  const open = (): SqliteStore => new SqliteStore({ path, clock: systemClock, checkIntegrity: false });
  const [gateway, eraser] = [open(), open()];
  t.after(async () => {
    await gateway.close();
    await eraser.close();
    await rm(folder, { recursive: true });
  });
  const filesWith = async (word: string): Promise<readonly string[]> => {
    const found = await Promise.all((await readdir(folder)).map(async (name) => ((await readFile(join(folder, name))).includes(word) ? [name] : [])));
    return found.flat().toSorted();
  };
  return { path, gateway, eraser, filesWith };
};

const indexed = Buffer.from('planted').toString('hex');

test('what was erased cannot be read in any file beside a gateway that runs, nor what was replaced or deleted before', async (t) => {
  const { gateway, eraser, filesWith } = await newHome(t);
  await fillWithPeople(gateway);
  await indexNewMessages(gateway);
  const old = { account: 'a', key: 'k', value: `planted ${'x'.repeat(20_000)}` };
  await gateway.write((tx) => tx.q.insertInto('account_values').values(old).execute());
  await gateway.emptyLog(0);
  assert.ok((await filesWith('planted')).length > 0 && (await filesWith(indexed)).length > 0);
  await gateway.write((tx) => tx.q.updateTable('account_values').set({ value: '' }).where('account', '=', 'a').execute());
  await erase(eraser);
  assert.ok((await filesWith(indexed)).includes('gateway.db-wal'));
  assert.equal(await scrub(eraser, 1000), true);
  assert.deepEqual([await filesWith('planted'), await filesWith(indexed)], [[], []]);
  assert.deepEqual(await filesWith('other words'), ['gateway.db']);
  assert.deepEqual((await searchMessages(gateway, { text: 'other words', limit: 5 })).length, 2);
  assert.equal(await scrubIfOwed(gateway), undefined);
});

test('while somebody reads, what was erased stays in the log, and the gateway makes up for it', async (t) => {
  const { path, gateway, eraser, filesWith } = await newHome(t);
  await fillWithPeople(gateway);
  const reading = new DatabaseSync(path, { readOnly: true });
  reading.exec('begin');
  reading.prepare('select count(*) from meta').get();
  await erase(eraser);
  assert.equal(await scrub(eraser, 0), false);
  assert.equal(await scrubIfOwed(gateway), false);
  assert.deepEqual(await filesWith('planted'), ['gateway.db-wal']);
  reading.close();
  assert.equal(await scrubIfOwed(gateway), true);
  assert.deepEqual(await filesWith('planted'), []);
  assert.equal(await scrubIfOwed(gateway), undefined);
});
