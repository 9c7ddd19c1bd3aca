import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { writeOldDatabase, writeOldPostgres } from '../../test/support/old-database.ts';
import { noPostgresReason } from '../../test/support/postgres.ts';
import { emptyPostgres } from '../../test/support/stores.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { giveToOwner } from '../lib/give-to-owner.ts';
import { silentLogger } from '../lib/logger.ts';
import { restoreBackup } from '../portability/restore-backup.ts';
import { listPaired } from '../store/accounts/pairing.ts';
import { schemaVersion } from '../store/migrations.ts';
import { openStore } from '../store/open.ts';
import { program } from './program.ts';

const old = schemaVersion - 1;

let home = '';
beforeEach(async () => {
  home = join(await mkdtemp(join(tmpdir(), 'hermes-restore-')), 'home');
  await mkdir(home);
});
afterEach(() => rm(join(home, '..'), { recursive: true }));

const hermes = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: { HERMES_HOME: home, ...env }, version: '1.2.3', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};
const refusal = (sentence: RegExp) => (error: unknown) => (error instanceof ConfigError || error instanceof StoreError) && sentence.test(error.message);

const pairedIn = async (location: { readonly path: string; readonly databaseUrl?: string }): Promise<readonly (string | null)[]> => {
  const store = await openStore({ ...location, clock: systemClock, log: silentLogger, checkIntegrity: true });
  return (await store.read(listPaired).finally(() => store.close())).map(({ userName }) => userName);
};

/** The copy that an upgrade has left in the home. */
const copyIn = async (): Promise<string> => join(home, 'backups', (await readdir(join(home, 'backups'))).find((name) => name.startsWith('gateway-schema-')) ?? '');

test('the copy that was made before an upgrade takes the place of the database, and nothing else is replaced', async () => {
  const path = join(home, 'gateway.db');
  writeOldDatabase(path, old);
  await writeFile(join(home, 'config.yaml'), 'model: demo\n', { mode: 0o600 });
  assert.match(await hermes({}, 'pairing', 'list'), /Copying the database before it is upgraded: 0 %\.\nUpgrading the database/);
  const db = new DatabaseSync(path);
  db.exec('delete from pairings');
  db.close();
  const copy = await copyIn();
  assert.match(await hermes({}, 'restore', copy, '--check'), new RegExp(`whole\\. A copy of the database with schema ${old}, made 20`));
  await assert.rejects(hermes({}, 'restore', copy), refusal(/would replace these in .*: gateway\.db\nAdd --yes/));
  assert.match(await hermes({}, 'restore', copy, '--yes'), new RegExp(`From the backup: gateway\\.db\n.*\n.*from schema ${old} to ${schemaVersion}`));
  assert.deepEqual(await pairedIn({ path }), ['Ann']);
  assert.equal(await readFile(join(home, 'config.yaml'), 'utf8'), 'model: demo\n');
  assert.match(await hermes({}, 'restore', copy, '--check'), /whole/, 'the copy itself is left as it was');
});

test('a database that is damaged, or not ours, is refused before anything is touched', async () => {
  const other = join(home, 'other.db');
  const db = new DatabaseSync(other);
  db.exec('create table t (x)');
  db.close();
  await assert.rejects(hermes({}, 'restore', other), refusal(/is a database of another program\. Nothing was changed/));
  writeOldDatabase(join(home, 'copy.db'), old);
  const bytes = await readFile(join(home, 'copy.db'));
  bytes.fill(0xff, 2 * 4096, 20 * 4096);
  await writeFile(join(home, 'copy.db'), bytes);
  await assert.rejects(hermes({}, 'restore', join(home, 'copy.db')), refusal(/copy\.db is damaged/));
  assert.deepEqual((await readdir(home)).toSorted(), ['copy.db', 'other.db']);
});

test('what root backs up and restores in the home of somebody else is theirs, also what is replaced', { skip: process.getuid?.() !== 0 && 'only root can' }, async () => {
  const theirs = join(home, '..', 'theirs');
  await mkdir(theirs);
  await chown(theirs, 4711, 4711);
  await mkdir(join(home, 'memories'));
  await Promise.all([writeFile(join(home, 'config.yaml'), 'model: demo\n'), writeFile(join(home, '.env'), 'X=1\n'), writeFile(join(home, 'memories', 'USER.md'), 'Ann')]);
  writeOldDatabase(join(home, 'gateway.db'), schemaVersion);
  await giveToOwner(home, theirs);
  const strangers = async (folder: string): Promise<readonly string[]> => {
    const paths = ['.', ...(await readdir(folder, { recursive: true }))];
    const owned = await Promise.all(paths.map(async (path) => ({ path, uid: (await stat(join(folder, path))).uid })));
    return owned.filter(({ uid }) => uid !== 4711).map(({ path }) => path);
  };
  await hermes({}, 'backup');
  const backup = join(home, 'backups', (await readdir(join(home, 'backups')))[0] ?? '');
  assert.match(await hermes({}, 'restore', backup, '--yes'), /replaced-/);
  assert.deepEqual(await strangers(home), []);
  await hermes({}, 'restore', backup, '--into', join(theirs, 'anew'));
  assert.deepEqual(await strangers(join(theirs, 'anew')), []);
});

test('the copy of a PostgreSQL database comes back on either engine', { skip: noPostgresReason ?? false }, async (t) => {
  const [from, to] = [await emptyPostgres(), await emptyPostgres()];
  t.after(() => Promise.all([from.drop(), to.drop()]));
  await writeOldPostgres(from.url, old);
  assert.match(await hermes({ DATABASE_URL: from.url }, 'pairing', 'list'), new RegExp(`Upgrading the database from schema ${old} to ${schemaVersion}\\.\n(.|\n)*Ann`));
  const copy = await copyIn();
  assert.match(await hermes({ DATABASE_URL: to.url }, 'restore', copy, '--load-database'), /loaded into PostgreSQL/);
  assert.deepEqual(await pairedIn({ path: join(home, 'gateway.db'), databaseUrl: to.url }), ['Ann']);
  const other = join(home, '..', 'other');
  await hermes({}, 'restore', copy, '--into', other);
  assert.deepEqual(await pairedIn({ path: join(other, 'gateway.db') }), ['Ann']);
});

test('a PostgreSQL database of an earlier version is backed up as it is, and brought up to date on its way in', { skip: noPostgresReason ?? false }, async (t) => {
  const from = await emptyPostgres();
  t.after(() => from.drop());
  await writeOldPostgres(from.url, old);
  const archive = join(home, '..', 'b.tar.gz');
  await hermes({ DATABASE_URL: from.url }, 'backup', archive);
  const other = join(home, '..', 'other');
  assert.match(await hermes({}, 'restore', archive, '--into', other), new RegExp(`from schema ${old} to ${schemaVersion}`));
  assert.deepEqual(await pairedIn({ path: join(other, 'gateway.db') }), ['Ann']);
});

test('a server that did not get its rows, because the restore was killed before, is not used until it has them', { skip: noPostgresReason ?? false }, async (t) => {
  const server = await emptyPostgres();
  t.after(() => server.drop());
  const env = { DATABASE_URL: server.url };
  const copy = join(home, '..', 'copy.db');
  writeOldDatabase(copy, old);
  await restoreBackup({ file: copy, home, clock: systemClock, dropOpen: false, loadsDatabase: true });
  await assert.rejects(hermes(env, 'pairing', 'list'), refusal(/interrupted before the data of .*copy\.db was in PostgreSQL\. Run it again: hermes restore .*copy\.db --load-database --yes/));
  assert.match(await hermes({}, 'pairing', 'list'), /Ann/, 'the file has them');
  assert.match(await hermes(env, 'restore', copy, '--load-database', '--yes'), /loaded into PostgreSQL/);
  assert.match(await hermes(env, 'pairing', 'list'), /Ann/);
  await assert.rejects(hermes(env, 'restore', copy, '--load-database', '--yes'), refusal(/The files are restored .* but the data is not loaded/));
  assert.match(await hermes(env, 'pairing', 'list'), /Ann/, 'who was told that it failed may go on');
});
