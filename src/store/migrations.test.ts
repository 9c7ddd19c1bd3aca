import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { noPostgresReason } from '../../test/support/postgres.ts';
import { emptyPostgres } from '../../test/support/stores.ts';
import type { Location } from '../../test/support/stores.ts';
import { pendingMigrations, schemaVersion } from './migrations.ts';
import { openStore } from './open.ts';
import type { Engine, Store } from './store.ts';

const emptyPlace = async (engine: Engine): Promise<{ location: Location; remove(): Promise<void> }> => {
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-migrate-'));
    return { location: { path: join(folder, 'gateway.db') }, remove: async () => rmSync(folder, { recursive: true }) };
  }
  const database = await emptyPostgres();
  return { location: { path: '', databaseUrl: database.url }, remove: () => database.drop() };
};

const open = (location: Location): Promise<Store> => openStore({ ...location, clock: systemClock, log: silentLogger, checkIntegrity: true });

const versionOf = async (store: Store): Promise<string | undefined> => {
  const row = await store.read((db) => db.q.selectFrom('meta').select('value').where('key', '=', 'schema_version').executeTakeFirst());
  return row?.value;
};

/** Several processes that open twenty new files each, all at the same moments; answers what failed. */
const openTogether = async (folder: string): Promise<string> => {
  const module = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { SqliteStore } from ${module('./engines/sqlite.ts')};
    import { systemClock } from ${module('../lib/clock.ts')};
    const startMs = ${Date.now() + 700};
    for (let i = 0; i < 20; i += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, startMs + i * 40 - Date.now());
      try {
        const store = new SqliteStore({ path: ${JSON.stringify(folder)} + '/' + i, clock: systemClock, checkIntegrity: true });
        await store.write((tx) => tx.q.insertInto('cursors').values({ account: 'a', identity: String(process.pid), name: 'n', value: 'v', updated_at: 0 }).execute());
        await store.close();
      } catch (error) {
        console.log(i, error.code, error.message);
      }
    }`;
  const children = [1, 2, 3].map(() => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]));
  return (await Promise.all(children)).map((child) => child.stdout).join('');
};

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(engine, engine === 'postgres' && noPostgresReason !== undefined ? { skip: noPostgresReason } : {}, () => {
    test('an empty database gets the schema, and opening it again changes nothing', async (t) => {
      const { location, remove } = await emptyPlace(engine);
      t.after(remove);
      const first = await open(location);
      assert.equal(await versionOf(first), String(schemaVersion));
      await first.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key: 'k', value: 'kept' }).execute());
      await first.close();
      const second = await open(location);
      assert.equal(await versionOf(second), String(schemaVersion));
      assert.equal((await second.read((db) => db.q.selectFrom('account_values').select('value').execute()))[0]?.value, 'kept');
      await second.close();
    });

    test('a database of a newer version is refused with a sentence that says what to do, and is not touched', async (t) => {
      const { location, remove } = await emptyPlace(engine);
      t.after(remove);
      const store = await open(location);
      const newer = String(schemaVersion + 1);
      await store.write((tx) => tx.q.updateTable('meta').set({ value: newer }).where('key', '=', 'schema_version').execute());
      await assert.rejects(open(location), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'newer');
        assert.match(error.message, new RegExp(`written by a newer version of hermes \\(schema ${newer}, this one knows ${schemaVersion}\\)\\. Install the newer version, or restore a backup`));
        return true;
      });
      assert.equal(await versionOf(store), newer);
      await store.close();
    });
  });
}

test('processes that open a new file at the same moment all succeed, and each finds the schema', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-migrate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.equal(await openTogether(folder), '');
  for (let i = 0; i < 20; i += 1) {
    const store = await open({ path: join(folder, String(i)) });
    assert.equal((await store.read((db) => db.q.selectFrom('cursors').selectAll().execute())).length, 3);
    await store.close();
  }
});

test('stores that open an empty PostgreSQL database at the same moment all succeed', { skip: noPostgresReason ?? false }, async (t) => {
  const { location, remove } = await emptyPlace('postgres');
  t.after(remove);
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(location)));
  for (const store of stores) {
    assert.equal(await versionOf(store), String(schemaVersion));
    await store.close();
  }
});

test('the steps of the schema are numbered without gaps', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    assert.deepEqual(pendingMigrations(0, engine).map((step) => step.version), Array.from({ length: schemaVersion }, (_, i) => i + 1));
    assert.deepEqual(pendingMigrations(schemaVersion, engine), []);
  }
});
