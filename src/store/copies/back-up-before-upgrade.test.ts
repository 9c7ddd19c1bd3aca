import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { StoreError } from '../../core/errors.ts';
import { manualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { writeOldDatabase } from '../../../test/support/old-database.ts';
import { lockHome } from '../locks/home-lock.ts';
import { schemaVersion } from '../migrations.ts';
import { openStore } from '../open.ts';
import type { OpenOptions } from '../open.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-upgrade-'));
});
afterEach(() => rm(home, { recursive: true }));

const path = (): string => join(home, 'gateway.db');

const writeOld = (version: number): void => writeOldDatabase(path(), version);

const clock = manualClock();
const open = async (more: Partial<OpenOptions> = {}): Promise<void> => {
  await clock.advance(1000);
  const store = await openStore({ path: path(), clock, log: silentLogger, checkIntegrity: true, ...more });
  await store.close();
};

const version = (): number => {
  const db = new DatabaseSync(path(), { readOnly: true });
  const found = db.prepare("select value from meta where key = 'schema_version'").get()?.['value'];
  db.close();
  return Number(found);
};

const copies = async (): Promise<string[]> => (existsSync(join(home, 'backups')) ? (await readdir(join(home, 'backups'))).toSorted() : []);

test('a database of an earlier version is copied whole before it is brought up to date, and one of this version is not', async () => {
  writeOld(schemaVersion - 1);
  await open();
  const [copy, ...others] = await copies();
  assert.deepEqual(others, []);
  assert.match(copy ?? '', new RegExp(`^gateway-schema-${schemaVersion - 1}-\\d{8}T\\d{9}Z\\.db$`));
  const kept = new DatabaseSync(join(home, 'backups', copy ?? ''), { readOnly: true });
  assert.equal(kept.prepare("select value from meta where key = 'schema_version'").get()?.['value'], String(schemaVersion - 1));
  assert.equal(kept.prepare('select user_name from pairings').get()?.['user_name'], 'Ann');
  kept.close();
  assert.equal((await stat(join(home, 'backups', copy ?? ''))).mode & 0o777, 0o600);
  await open();
  assert.equal((await copies()).filter((name) => name.endsWith('.db')).length, 1);
});

test('a new database is not copied', async () => {
  await open();
  assert.deepEqual(await copies(), []);
});

test('only the newest three copies stay, and nothing else in the folder is touched', async () => {
  for (let i = 0; i < 5; i += 1) {
    await rm(path(), { force: true });
    writeOld(schemaVersion - 1 - (i % 2));
    await open();
    if (i === 0) await writeFile(join(home, 'backups', 'mine.db'), '');
  }
  const names = await copies();
  assert.equal(names.length, 4);
  assert.ok(names.includes('mine.db'));
});

test('a damaged database is not upgraded: no copy of it would be whole', async () => {
  writeOld(schemaVersion - 1);
  const db = new DatabaseSync(path());
  for (let i = 0; i < 500; i += 1) db.prepare("insert into account_values values ('a', ?, ?)").run(String(i), 'v'.repeat(500));
  db.close();
  const bytes = await readFile(path());
  bytes.fill(0xff, bytes.length - 5 * 4096, bytes.length - 4096);
  await writeFile(path(), bytes);
  await clock.advance(1000);
  await assert.rejects(openStore({ path: path(), clock, log: silentLogger, checkIntegrity: false }), (error) => error instanceof StoreError && error.code === 'corrupt');
  assert.deepEqual(await copies(), []);
});

test('without a copy there is no upgrade', async () => {
  writeOld(schemaVersion - 1);
  await writeFile(join(home, 'backups'), 'a file where the folder should be');
  await assert.rejects(open(), (error) => error instanceof StoreError && /has to be upgraded .* start again/.test(error.message));
  assert.equal(version(), schemaVersion - 1);
});

test('whoever has a backup of their own can do without the copy', async () => {
  writeOld(schemaVersion - 1);
  await open({ copyBeforeUpgrade: false });
  assert.equal(version(), schemaVersion);
  assert.deepEqual(await copies(), []);
});

test('a command does not upgrade the database below a gateway of the earlier version; the gateway that has the home does', async () => {
  writeOld(schemaVersion - 1);
  const lock = lockHome(home);
  await assert.rejects(open(), (error) => error instanceof StoreError && error.code === 'busy' && /still works on it\. Start that anew with `hermes gateway restart`/.test(error.message));
  assert.equal(version(), schemaVersion - 1);
  assert.deepEqual(await copies(), []);
  await open({ holdsHome: true });
  assert.equal(version(), schemaVersion);
  lock?.release();
});
