import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ConfigError, StoreError } from '../core/errors.ts';
import { readActs, recordAct } from '../lib/audit-log.ts';
import { systemClock } from '../lib/clock.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { lockHome } from '../store/locks/home-lock.ts';
import { enqueueLane } from '../store/lanes/lanes.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import type { Delivery } from '../store/messages/outbox.ts';
import { schemaVersion } from '../store/migrations.ts';
import { createSession, listSessions } from '../store/sessions/sessions.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { Exit } from './environment.ts';
import { writeOldDatabase } from '../../test/support/old-database.ts';
import { noPostgresReason } from '../../test/support/postgres.ts';
import { emptyPostgres } from '../../test/support/stores.ts';
import { silentLogger } from '../lib/logger.ts';
import { openStore } from '../store/open.ts';
import { program } from './program.ts';

let folder = '';
let home = '';
let archive = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-backup-'));
  home = join(folder, 'home');
  archive = join(folder, 'b.tar.gz');
  await mkdir(home);
});
afterEach(() => rm(folder, { recursive: true }));

const hermesWith = async (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> => {
  let out = '';
  const write = (text: string): void => void (out += text);
  await program({ env: { HERMES_HOME: home, ...env }, version: '1.2.3', write, writeError: write }).parseAsync(['node', 'hermes', ...args]);
  return out;
};
const hermes = (...args: readonly string[]): Promise<string> => hermesWith({}, ...args);
const refusal = (sentence: RegExp) => (error: unknown) => (error instanceof ConfigError || error instanceof StoreError) && sentence.test(error.message);
const put = async (path: string, text: string | Buffer, at = home): Promise<void> => {
  await mkdir(dirname(join(at, path)), { recursive: true });
  await writeFile(join(at, path), text, { mode: 0o600 });
};
const textOf = (path: string, at = home): Promise<string> => readFile(join(at, path), 'utf8');
const openHome = (at = home): SqliteStore => new SqliteStore({ path: join(at, 'gateway.db'), clock: systemClock, checkIntegrity: false });
const addSession = (store: SqliteStore, id: string): Promise<void> => store.write((tx) => createSession(tx, { id, agent: 'main', account: 'local', chatType: 'dm', userId: 'me' }));
const sessionsIn = async (at: string): Promise<string[]> => {
  const store = openHome(at);
  const sessions = await store.read((db) => listSessions(db, { limit: 10_000 }));
  await store.close();
  return sessions.map(({ id }) => id);
};

const fill = async (): Promise<void> => {
  const store = openHome();
  await addSession(store, 'first');
  await accountData(store, 'telegram').set('login', 'planted-login');
  await accountData(store, 'web').set('chat', 'kept');
  await store.close();
  await put('config.yaml', 'model: demo\nplatforms:\n  telegram:\n    token: 1:planted-token\n    enabled: false\n');
  await put('.env', 'OPENAI_API_KEY=planted-key\n');
  await put('memories/MEMORY.md', 'remembers');
  await put('skills/a/SKILL.md', 'knows');
  await put('profiles/helper/.env', 'TOKEN=planted-profile\n');
  await put('profiles/helper/SOUL.md', 'helps');
  await put('media/a.png', 'picture');
  await put('logs/gateway.log', 'passing');
  await put('cache/x', 'passing');
  await put('workspace/big.bin', 'work');
  await put('mcp-tokens/x.json', 'planted-mcp');
};

test('what was backed up comes back in another home, byte for byte, and what passes does not', async () => {
  await fill();
  const told = await hermes('backup', archive);
  assert.match(told, /Not in it:\n {2}workspace\//);
  assert.equal((await stat(archive)).mode & 0o777, 0o600);
  const other = join(folder, 'other');
  assert.match(await hermes('restore', archive, '--into', other), /is restored\./);
  for (const path of ['config.yaml', '.env', 'memories/MEMORY.md', 'skills/a/SKILL.md', 'profiles/helper/.env', 'profiles/helper/SOUL.md', 'media/a.png', 'mcp-tokens/x.json']) assert.equal(await textOf(path, other), await textOf(path));
  for (const path of ['logs/gateway.log', 'cache', 'workspace', 'manifest.json', 'gateway.pid']) assert.ok(!existsSync(join(other, path)), path);
  assert.deepEqual(await sessionsIn(other), ['first']);
  assert.deepEqual((await readdir(other)).filter((name) => name.startsWith('.restore') || name.startsWith('.partial')), []);
  assert.deepEqual((await readdir(folder)).toSorted(), ['b.tar.gz', 'home', 'other']);
});

test('whatever files are called, the backup can be restored, and what cannot be taken is named', { skip: process.platform !== 'linux' && 'names have other rules elsewhere' }, async () => {
  await fill();
  const names = ['a\\b.md', 'c:d', 'with\nnewline', ' ', 'ü'.repeat(100)];
  for (const name of names) await put(`skills/${name}`, name);
  await put('x:', 'x');
  await put('manifest.json', '{}');
  await put('skills/manifest.json', 'kept');
  await put('nightly/hermes-20260101T000000000Z.tar.gz', 'earlier');
  await writeFile(Buffer.concat([Buffer.from(join(home, 'skills', 'caf')), Buffer.from([0xe9])]), 'latin');
  await symlink('loop', join(home, 'skills', 'loop'));
  await symlink('nowhere', join(home, 'skills', 'gone'));
  await symlink('a/SKILL.md', join(home, 'skills', 'link'));
  const told = await hermes('backup', archive);
  for (const line of ['skills/caf\uFFFD (its name is no UTF-8)', 'skills/gone (a link to nowhere)', 'skills/loop (a link that cannot be followed: ELOOP)']) assert.ok(told.includes(line), line);
  const other = join(folder, 'other');
  await hermes('restore', archive, '--into', other);
  for (const name of [...names, 'link', 'manifest.json']) assert.equal(await textOf(`skills/${name}`, other), await textOf(`skills/${name}`));
  assert.equal(await textOf('x:', other), 'x');
  assert.ok(!existsSync(join(other, 'manifest.json')) && !existsSync(join(other, 'nightly')));
});

test('a backup made while a gateway writes holds everything that was acknowledged before it began', async () => {
  const store = openHome();
  for (let i = 0; i < 400; i += 1) await addSession(store, `before_${i}`);
  const stop = new AbortController();
  let written = 0;
  const writer = (async () => {
    for (; !stop.signal.aborted; written += 1) await addSession(store, `during_${written}`);
  })();
  await hermes('backup', archive);
  stop.abort();
  await writer;
  assert.ok(written > 0);
  await store.close();
  const other = join(folder, 'other');
  await hermes('restore', archive, '--into', other);
  const ids = await sessionsIn(other);
  for (let i = 0; i < 400; i += 1) assert.ok(ids.includes(`before_${i}`));
});

test('no credential is anywhere in a backup without secrets', async () => {
  await fill();
  const told = await hermes('backup', archive, '--no-secrets');
  assert.ok(!gunzipSync(await readFile(archive)).includes('planted'));
  assert.match(told, /\.env \(holds secrets\)/);
  assert.match(told, /secrets in config\.yaml: platforms\.telegram\.token/);
  await hermes('restore', archive, '--yes');
  assert.equal(await textOf('.env'), 'OPENAI_API_KEY=planted-key\n', 'those of the home stay');
  const store = openHome();
  assert.equal(await accountData(store, 'web').get('chat'), 'kept');
  await store.close();
});

test('a file that holds a secret is left out by whatever way the configuration names it', async () => {
  await fill();
  await put('tokens/telegram', '1:planted-in-a-file');
  await writeFile(join(folder, 'elsewhere'), 'planted-elsewhere');
  await symlink(join(folder, 'elsewhere'), join(home, 'linked'));
  await put('config.yaml', `model: { provider: openai, default: x, api_key_file: ${join(folder, 'elsewhere')} }\nplatforms:\n  telegram:\n    token_file: ${join(home, 'tokens', 'telegram')}\n    enabled: false\n`);
  const link = join(folder, 'link');
  await symlink(home, link);
  const told = await hermesWith({ HERMES_HOME: link }, 'backup', archive, '--no-secrets');
  assert.match(told, /tokens\/telegram \(holds a secret\)/);
  assert.match(told, /linked \(holds a secret\)/);
  assert.ok(!gunzipSync(await readFile(archive)).includes('planted'));
});

test('a home in use is not replaced, and one with data only when that was said; what was there is kept aside', async () => {
  await fill();
  await hermes('backup', archive);
  await put('memories/MEMORY.md', 'newer');
  const store = openHome();
  await addSession(store, 'second');
  await store.close();
  await assert.rejects(hermes('restore', archive), refusal(/would replace .*gateway\.db.*Add --yes/s));
  const lock = lockHome(home);
  await assert.rejects(hermes('restore', archive, '--yes'), refusal(/A gateway is running in/));
  lock?.release();
  assert.equal(await textOf('memories/MEMORY.md'), 'newer');
  const told = JSON.parse(await hermes('restore', archive, '--yes', '--json')) as { readonly aside: string };
  assert.equal(await textOf('memories/MEMORY.md'), 'remembers');
  assert.deepEqual(await sessionsIn(home), ['first']);
  assert.equal(await textOf('memories/MEMORY.md', told.aside), 'newer');
  assert.equal((await sessionsIn(told.aside)).length, 2);
  assert.equal(await textOf('workspace/big.bin'), 'work', 'what the backup knows nothing of stays');
});

test('a backup that was changed, cut off or is none is refused before anything is touched', async () => {
  await fill();
  await hermes('backup', archive);
  assert.match(await hermes('restore', archive, '--check'), /The backup is whole\. Made .* by hermes 1\.2\.3/);
  const before = await sessionsIn(home);
  const tar = gunzipSync(await readFile(archive));
  const changed = Buffer.from(tar);
  changed.write('REMEMBERS', tar.indexOf('remembers'));
  for (const [bytes, reason] of [
    [gzipSync(changed), /memories\/MEMORY\.md is not what was put into it/],
    [gzipSync(tar.subarray(0, 4096)), /cut off/],
    [(await readFile(archive)).subarray(0, 3000), /damaged|cut off/],
    [Buffer.from('nothing of the kind'), /damaged/],
  ] as const) {
    await writeFile(archive, bytes);
    await assert.rejects(hermes('restore', archive, '--yes'), refusal(reason));
  }
  await assert.rejects(hermes('restore', join(folder, 'nowhere')), refusal(/There is no file/));
  assert.deepEqual(await sessionsIn(home), before);
  assert.equal(await textOf('memories/MEMORY.md'), 'remembers');
});

test('a backup of a newer version is refused with a sentence', async () => {
  await fill();
  const setVersion = (version: number): void => {
    const db = new DatabaseSync(join(home, 'gateway.db'));
    db.prepare("update meta set value = ? where key = 'schema_version'").run(String(version));
    db.close();
  };
  setVersion(schemaVersion + 1);
  await hermes('backup', archive);
  setVersion(schemaVersion);
  await assert.rejects(hermes('restore', archive, '--yes'), refusal(/b\.tar\.gz was written by a newer version of hermes/));
  assert.deepEqual(await sessionsIn(home), ['first']);
});

test('a backup of an earlier version is brought up to date on its way in', async () => {
  writeOldDatabase(join(home, 'gateway.db'), schemaVersion - 1);
  await hermes('backup', archive);
  const other = join(folder, 'other');
  assert.match(await hermes('restore', archive, '--into', other), new RegExp(`from schema ${schemaVersion - 1} to ${schemaVersion}`));
  const db = new DatabaseSync(join(other, 'gateway.db'), { readOnly: true });
  assert.equal(db.prepare("select value from meta where key = 'schema_version'").get()?.['value'], String(schemaVersion));
  assert.equal(db.prepare('select user_name from pairings').get()?.['user_name'], 'Ann');
  db.close();
});

test('of the files that people sent the newest are taken, up to the limit', async () => {
  for (const [i, name] of ['old', 'middle', 'new'].entries()) {
    await put(`media/${name}`, Buffer.alloc(700 * 1024, i));
    await utimes(join(home, 'media', name), 1000 + i, 1000 + i);
  }
  assert.match(await hermes('backup', archive, '--media-mb', '1'), /2 of 3 files in media/);
  await hermes('restore', archive, '--into', join(folder, 'other'));
  assert.deepEqual(await readdir(join(folder, 'other', 'media')), ['new']);
  await hermes('restore', archive, '--yes');
  assert.deepEqual((await readdir(join(home, 'media'))).toSorted(), ['middle', 'new', 'old'], 'restoring takes none away');
});

test('a folder gets new ones, of which the newest stay; a file of another name among them is never counted as one', async () => {
  await fill();
  const disk = join(folder, 'disk');
  await mkdir(disk);
  await writeFile(join(disk, 'other.tar.gz'), 'kept');
  for (let i = 0; i < 3; i += 1) await hermes('backup', disk, '--keep', '2');
  const names = (await readdir(disk)).toSorted();
  assert.deepEqual(names.map((name) => name.replace(/\d{8}T\d{9}Z/, 'TIME')), ['hermes-TIME.tar.gz', 'hermes-TIME.tar.gz', 'other.tar.gz']);
  assert.match(await hermes('restore', join(disk, names[0] ?? ''), '--check'), /whole/);
  await assert.rejects(hermes('backup', join(disk, 'nightly.tar.gz'), '--keep', '2'), refusal(/nightly\.tar\.gz is no folder, and --keep removes older ones in a folder/));
  await assert.rejects(hermes('backup', `${join(disk, 'usb')}/`), refusal(/There is no folder .*usb to write the backup to/));
  assert.deepEqual((await readdir(disk)).length, 3);
});

test('only the newest backups stay when that was asked for', async () => {
  await put('backups/mine.tar.gz', '');
  for (let i = 0; i < 3; i += 1) await hermes('backup', '--keep', '2');
  const names = await readdir(join(home, 'backups'));
  assert.equal(names.filter((name) => name.startsWith('hermes-')).length, 2);
  assert.ok(names.includes('mine.tar.gz'));
});

test('a folder that is not there is not made: what it is on may not be mounted', async () => {
  await fill();
  await assert.rejects(hermes('backup', join(folder, 'stick', 'a.tar.gz')), /There is no folder .*stick/);
  assert.ok(!existsSync(join(folder, 'stick')));
});

test('with a damaged database everything else is saved, older backups stay, and it says so', async () => {
  await fill();
  await hermes('backup', '--keep', '1');
  await writeFile(join(home, 'gateway.db'), 'x'.repeat(20_000));
  for (const suffix of ['-wal', '-shm']) await rm(join(home, `gateway.db${suffix}`), { force: true });
  await assert.rejects(hermes('backup', '--keep', '1'), (error) => error instanceof Exit && error.code === 1);
  const names = (await readdir(join(home, 'backups'))).toSorted();
  assert.equal(names.length, 2);
  await hermes('restore', join(home, 'backups', names[1] ?? ''), '--into', join(folder, 'saved'));
  assert.equal(await textOf('gateway.db.damaged', join(folder, 'saved')), 'x'.repeat(20_000));
  assert.ok(existsSync(join(folder, 'saved', 'config.yaml')));
  await assert.rejects(hermes('backup', archive, '--no-secrets'));
  await hermes('restore', archive, '--into', join(folder, 'bare'));
  assert.ok(!existsSync(join(folder, 'bare', 'gateway.db.damaged')));
});

test('a broken configuration is no reason not to save what there is', async () => {
  await fill();
  await put('config.yaml', 'model: [');
  assert.match(await hermes('backup', archive), /it is backed up as it is/);
  await hermes('restore', archive, '--into', join(folder, 'other'));
  assert.equal(await textOf('config.yaml', join(folder, 'other')), 'model: [');
});

test('what was open when the backup was made is taken up again, or let go of when that was said', async () => {
  const store = openHome();
  await store.write(async (tx) => {
    await enqueueLane(tx, { lane: 'out:local:c', kind: 'out' });
    const target = JSON.stringify({ account: 'local', chatId: 'c', chatType: 'dm' });
    await tx.q.insertInto('outbox').values({ key: 'k', lane: 'out:local:c', account: 'local', chat_id: 'c', target, payload: '{}', state: 'pending', turn_id: null, inbox_id: null, message_ids: null, error: null, created_at: 1, updated_at: 1 }).execute();
  });
  await store.close();
  await hermes('backup', archive);
  const stateIn = async (at: string): Promise<unknown> => {
    const db = new DatabaseSync(join(at, 'gateway.db'), { readOnly: true });
    const rows = [db.prepare('select state from outbox').get()?.['state'], db.prepare('select has_work from lanes').get()?.['has_work']];
    db.close();
    return rows;
  };
  assert.match(await hermes('restore', archive, '--into', join(folder, 'a')), /deliveries 1\. They are taken up/);
  assert.deepEqual(await stateIn(join(folder, 'a')), ['pending', 1]);
  assert.match(await hermes('restore', archive, '--into', join(folder, 'b'), '--drop-open'), /They were let go of/);
  assert.deepEqual(await stateIn(join(folder, 'b')), ['cancelled', 0]);
});

test('what is not delivered yet finds its files in the home that it was moved to', async () => {
  const file = join(home, 'media', 'outgoing', '2026-01', 'file_1.md');
  await put('media/outgoing/2026-01/file_1.md', 'a long answer');
  const store = openHome();
  const media = (path: string) => [{ kind: 'document', path, mime: 'text/markdown', name: 'answer.md' }] as const;
  const target = { account: 'local', chatId: 'c', chatType: 'dm' } as const;
  await store.write((tx) => enqueueDelivery(tx, { message: { key: 'k', target, text: 'see', media: media(file) }, closing: { media: media('/srv/other.pdf') } }, {}));
  await store.close();
  await hermes('backup', archive);
  const other = join(folder, 'other');
  await hermes('restore', archive, '--into', other);
  const db = new DatabaseSync(join(other, 'gateway.db'), { readOnly: true });
  const delivery = JSON.parse(String(db.prepare('select payload from outbox').get()?.['payload'])) as Delivery;
  db.close();
  assert.deepEqual([delivery.message.media?.[0]?.path, delivery.closing?.media?.[0]?.path], [join(other, 'media', 'outgoing', '2026-01', 'file_1.md'), '/srv/other.pdf']);
  assert.equal(await readFile(delivery.message.media?.[0]?.path ?? '', 'utf8'), 'a long answer');
});

test('a gateway on PostgreSQL is backed up with its rows, and comes back on either engine', { skip: noPostgresReason ?? false }, async (t) => {
  const [from, to] = [await emptyPostgres(), await emptyPostgres()];
  t.after(() => Promise.all([from.drop(), to.drop()]));
  const store = await openStore({ databaseUrl: from.url, path: '', clock: systemClock, log: silentLogger, checkIntegrity: false });
  await store.write((tx) => createSession(tx, { id: 'first', agent: 'main', account: 'local', chatType: 'dm', userId: 'me' }));
  await store.close();
  await put('.env', `DATABASE_URL=${from.url}\n`);
  assert.match(await hermes('backup', archive), /rows of the PostgreSQL database are in it/);
  const plain = join(folder, 'plain');
  assert.match(await hermes('restore', archive, '--into', plain), /PostgreSQL database, which is as it was/);
  assert.deepEqual(await sessionsIn(plain), ['first']);
  await assert.rejects(hermes('restore', archive, '--into', join(folder, 'full'), '--load-database'), refusal(/is not empty/));
  const moved = join(folder, 'moved');
  assert.match(await hermesWith({ DATABASE_URL: to.url }, 'restore', archive, '--into', moved, '--load-database'), /loaded into PostgreSQL/);
  const target = await openStore({ databaseUrl: to.url, path: '', clock: systemClock, log: silentLogger, checkIntegrity: false });
  const sessions = await target.read((db) => listSessions(db, { limit: 5 })).finally(() => target.close());
  assert.deepEqual(sessions.map(({ id }) => id), ['first']);
});

test('what was written down about acts moves along, and what was done since is kept', async () => {
  await fill();
  recordAct(home, { by: 'ada', act: 'access allow' }, 0);
  await hermes('backup', archive);
  const elsewhere = join(folder, 'elsewhere');
  await hermes('restore', archive, '--into', elsewhere);
  assert.deepEqual(readActs(elsewhere).map(({ act }) => act), ['access allow', 'restore']);
  assert.ok(!existsSync(join(elsewhere, 'logs', 'gateway.log')));
  recordAct(home, { by: 'ada', act: 'access deny' }, 1);
  await hermes('restore', archive, '--yes');
  assert.deepEqual(readActs(home).map(({ act }) => act), ['access allow', 'access deny', 'backup', 'restore']);
  assert.equal(await textOf('logs/gateway.log'), 'passing', 'other logs stay where they are');
});
