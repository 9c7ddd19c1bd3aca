import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { noPostgresReason } from '../../../test/support/postgres.ts';
import { emptyPostgres } from '../../../test/support/stores.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { schemaVersion } from '../migrations.ts';
import { openStore } from '../open.ts';
import { fillWithPeople } from '../person/person.test-support.ts';
import { searchMessages } from '../sessions/search.ts';
import { appendMessage } from '../sessions/transcripts.ts';
import type { Store } from '../store.ts';
import { checkCopy } from './copy-database.ts';
import { reindexMessages } from './reindex-messages.ts';
import { copyFromPostgres, loadIntoPostgres } from './transfer.ts';

const tables = ['sessions', 'messages', 'inbox', 'outbox', 'bindings', 'lanes', 'questions', 'cron_jobs', 'pairings', 'journal', 'account_values', 'channels', 'limits', 'api_keys'];

const rowsOf = async (store: Store): Promise<Readonly<Record<string, unknown>>> => {
  const all: Record<string, unknown> = {};
  for (const table of tables) {
    const { rows } = await store.read((db) => sql`select * from ${sql.table(table)}`.execute(db.q));
    all[table] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return all;
};

describe('between the engines', noPostgresReason === undefined ? {} : { skip: noPostgresReason }, () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-transfer-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('what is in PostgreSQL goes into a file, and from the file into another PostgreSQL, row by row', async (t) => {
    const [from, to] = [await emptyPostgres(), await emptyPostgres()];
    const opened: Store[] = [];
    t.after(async () => {
      for (const store of opened) await store.close();
      await from.drop();
      await to.drop();
    });
    const open = async (location: { readonly databaseUrl?: string; readonly path: string }): Promise<Store> => {
      const store = await openStore({ ...location, clock: systemClock, log: silentLogger, checkIntegrity: true });
      opened.push(store);
      return store;
    };
    const path = join(folder, 'gateway.db');
    const source = await open({ databaseUrl: from.url, path: '' });
    await fillWithPeople(source);
    const before = await rowsOf(source);
    const findable = async (store: Store): Promise<number> => (await searchMessages(store, { text: 'other words', limit: 9 })).length;
    const found = await findable(source);
    assert.ok(found > 0);
    assert.equal(await copyFromPostgres(from.url, path), schemaVersion);
    checkCopy(path, schemaVersion);
    assert.deepEqual(await readdir(folder), ['gateway.db']);

    const file = await open({ path });
    assert.deepEqual(await rowsOf(file), before);
    assert.equal(await findable(file), found);

    const target = await open({ databaseUrl: to.url, path: '' });
    await loadIntoPostgres(path, to.url);
    await reindexMessages(target);
    assert.deepEqual(await rowsOf(target), before);
    assert.equal(await findable(target), found);
    const newest = Number((await target.read((db) => db.q.selectFrom('messages').select((eb) => eb.fn.max('id').as('id')).executeTakeFirst()))?.id);
    assert.equal(await target.write((tx) => appendMessage(tx, { sessionId: 'shared', turnId: null }, { role: 'user', content: 'next' })), newest + 1);
    await assert.rejects(loadIntoPostgres(path, to.url), /is not empty: it has rows in sessions/);
  });

  test('numbers that were given are not given again, though their rows are gone', async (t) => {
    const [from, to] = [await emptyPostgres(), await emptyPostgres()];
    const opened: Store[] = [];
    t.after(async () => {
      for (const store of opened) await store.close();
      await from.drop();
      await to.drop();
    });
    const open = async (databaseUrl: string | undefined, path: string): Promise<Store> => {
      const store = await openStore({ databaseUrl, path, clock: systemClock, log: silentLogger, checkIntegrity: true });
      opened.push(store);
      return store;
    };
    const give = (store: Store): Promise<number> => store.write((tx) => appendMessage(tx, { sessionId: 's', turnId: null }, { role: 'user', content: 'x' }));
    const forget = (store: Store): Promise<unknown> => store.write((tx) => tx.q.deleteFrom('messages').execute());
    const path = join(folder, 'gateway.db');
    const source = await open(from.url, '');
    for (let i = 0; i < 5; i += 1) await give(source);
    await forget(source);
    await copyFromPostgres(from.url, path);
    const file = await open(undefined, path);
    assert.equal(await give(file), 6);
    await forget(file);
    const target = await open(to.url, '');
    await loadIntoPostgres(path, to.url);
    assert.equal(await give(target), 7);
  });
});
