import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { StoreError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { restoringFolder } from '../store/copies/half-restored.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { lockHome } from '../store/locks/home-lock.ts';
import { openStore } from '../store/open.ts';
import { createSession, listSessions } from '../store/sessions/sessions.ts';
import { finishRestore } from './finish-restore.ts';
import { finishing, mortal, restoring } from './mortal.test-support.ts';
import { restoreBackup } from './restore-backup.ts';
import { sweepPartial } from './sweep-partial.ts';
import { writeBackup } from './write-backup.ts';

/** Where there is a file system in memory: all this waits for the disk again and again. */
const shm = '/dev/shm';
const quick = existsSync(shm) && statSync(shm).isDirectory() ? shm : tmpdir();
const isOtherDisk = statSync(quick).dev !== statSync(tmpdir()).dev;

let folder = '';
let otherDisk = '';
/** A home of yesterday, whose last conversation is only in the write-ahead log, and a backup of another one. */
let yesterday = '';
let archive = '';
let home = '';

const put = async (at: string, path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(at, path)), { recursive: true });
  await writeFile(join(at, path), text, { mode: 0o600 });
};

const openAt = (at: string): SqliteStore => new SqliteStore({ path: join(at, 'gateway.db'), clock: systemClock, checkIntegrity: true });

const addSession = (store: SqliteStore, id: string): Promise<void> => store.write((tx) => createSession(tx, { id, agent: 'main', account: 'local', chatType: 'dm', userId: 'me' }));

const fill = async (at: string, word: string): Promise<void> => {
  await put(at, 'config.yaml', `model: ${word}\n`);
  await put(at, 'skills/a/SKILL.md', word);
  await put(at, 'profiles/helper/SOUL.md', word);
  await put(at, 'profiles/helper/memories/MEMORY.md', word);
  await put(at, 'logs/audit.log', `{"at":"2026-11-1${word.length}","by":"x","act":"${word}"}\n`);
};

before(async () => {
  folder = await mkdtemp(join(quick, 'hermes-moves-'));
  otherDisk = await mkdtemp(join(tmpdir(), 'hermes-other-disk-'));
  yesterday = join(folder, 'yesterday');
  archive = join(folder, 'b.tar.gz');
  const other = join(folder, 'other');
  await Promise.all([fill(yesterday, 'old'), fill(other, 'restored'), put(other, 'media/a.png', 'picture'), put(other, 'hooks/h.js', 'hook')]);
  const there = openAt(other);
  await addSession(there, 'restored_1');
  await addSession(there, 'restored_2');
  await there.close();
  await writeBackup({ home: other, file: archive, database: { engine: 'sqlite', path: join(other, 'gateway.db') }, version: 'test', clock: systemClock, secrets: true, mediaBytes: 1e6, workspace: false, plainAccounts: [] });
  const first = openAt(yesterday);
  await addSession(first, 'old_1');
  await first.close();
  const store = openAt(yesterday);
  await addSession(store, 'old_2');
  await cp(yesterday, join(folder, 'crashed'), { recursive: true });
  await store.close();
  yesterday = join(folder, 'crashed');
  assert.ok(statSync(join(yesterday, 'gateway.db-wal')).size > 0);
});
after(() => Promise.all([folder, otherDisk].map((path) => rm(path, { recursive: true }))));

const newHome = async (): Promise<string> => {
  const made = await mkdtemp(join(folder, 'home-'));
  await cp(yesterday, made, { recursive: true });
  return made;
};
beforeEach(async () => {
  home = await newHome();
});
afterEach(() => rm(home, { recursive: true }));

const textOf = async (at: string, path: string): Promise<string | undefined> => (existsSync(join(at, path)) ? readFile(join(at, path), 'utf8') : undefined);

/** What whoever opens the home finds. Looks at a copy, so that looking changes nothing. */
const stateOf = async (at: string): Promise<unknown> => {
  const copy = await mkdtemp(join(folder, 'look-'));
  for (const name of ['gateway.db', 'gateway.db-wal', 'gateway.db-shm']) if (existsSync(join(at, name))) await cp(join(at, name), join(copy, name));
  const store = openAt(copy);
  const sessions = (await store.read((db) => listSessions(db, { limit: 10 }))).map(({ id }) => id).toSorted();
  await store.close();
  await rm(copy, { recursive: true });
  const [config, skill, soul, memory, hook, media] = await Promise.all(['config.yaml', 'skills/a/SKILL.md', 'profiles/helper/SOUL.md', 'profiles/helper/memories/MEMORY.md', 'hooks/h.js', 'media/a.png'].map((path) => textOf(at, path)));
  return { sessions, config, skill, soul, memory, hook, media };
};
const none = { hook: undefined, media: undefined };
const oldState = { sessions: ['old_1', 'old_2'], config: 'model: old\n', skill: 'old', soul: 'old', memory: 'old', ...none };
const newState = { sessions: ['restored_1', 'restored_2'], config: 'model: restored\n', skill: 'restored', soul: 'restored', memory: 'restored', hook: 'hook', media: 'picture' };

const replacedIn = async (at: string): Promise<string> => {
  for (const parent of [join(at, 'backups'), at]) {
    const name = existsSync(parent) ? (await readdir(parent)).find((entry) => entry.startsWith('replaced-')) : undefined;
    if (name !== undefined) return join(parent, name);
  }
  throw new Error('nothing was kept');
};

const restoreHere = (): ReturnType<typeof restoreBackup> => restoreBackup({ file: archive, home, clock: systemClock, dropOpen: false });

const inMortal = (work: 'restore' | 'finish', at: string, renames: number): Promise<number | 'killed'> => mortal(work === 'restore' ? restoring(archive, at) : finishing(at), { renames, cache: join(folder, 'compiled') });

/** What a restore that was killed leaves is the old home, or something that nobody opens and that becomes the new one. */
const settles = async (at: string): Promise<'old' | 'new'> => {
  const wasHalf = existsSync(restoringFolder(at));
  if (wasHalf) {
    await assert.rejects(openStore({ path: join(at, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false }), (error) => error instanceof StoreError && error.message.includes('hermes status'));
    await sweepPartial(at, Date.now() + 24 * 3_600_000);
  }
  const finished = await finishRestore(at, systemClock);
  assert.equal(finished !== undefined, wasHalf);
  const state = await stateOf(at);
  if ((state as typeof newState).config === 'model: old\n') {
    assert.deepEqual(state, oldState);
    return 'old';
  }
  assert.deepEqual(state, newState);
  assert.deepEqual(await stateOf(await replacedIn(at)), oldState);
  assert.match((await textOf(at, 'logs/audit.log')) ?? '', /"old"[^]*"restored"/);
  assert.deepEqual((await readdir(at)).filter((name) => name === '.restoring' || name.startsWith('gateway.db-')), []);
  return 'new';
};

/** Each of them is a process of its own, which takes long on a slow machine. */
const manyProcesses = { timeout: 600_000 };

const killedEverywhere = async (prepare: (at: string) => Promise<void>): Promise<void> => {
  await prepare(home);
  const renames = await inMortal('restore', home, Infinity);
  assert.ok(typeof renames === 'number' && renames > 12);
  const at = async (after: number): Promise<'old' | 'new'> => {
    const here = await newHome();
    await prepare(here);
    assert.equal(await inMortal('restore', here, after), 'killed');
    const outcome = await settles(here);
    await rm(here, { recursive: true });
    return outcome;
  };
  const outcomes: string[] = [];
  for (let done = 0; done < renames; done += 2) outcomes.push(...(await Promise.all([at(done), ...(done + 1 < renames ? [at(done + 1)] : [])])));
  // From the moment at which everything is ready there is no way back.
  assert.match(outcomes.join(' '), /^(?:old )+new(?: new){8,}$/);
};

test('a restore that is killed at any of its moves leaves the old home, or becomes the new one at the next look, with all rows in both', manyProcesses, () => killedEverywhere(() => Promise.resolve()));

/** Backups, the files that people sent and the agents each on another disk. */
const spread = async (at: string): Promise<void> => {
  const there = await mkdtemp(join(otherDisk, 'disk-'));
  await cp(join(at, 'profiles'), join(there, 'profiles'), { recursive: true });
  await rm(join(at, 'profiles'), { recursive: true });
  for (const name of ['backups', 'media', 'profiles']) {
    await mkdir(join(there, name), { recursive: true });
    await symlink(join(there, name), join(at, name));
  }
};
const skipSpread = isOtherDisk ? false : 'there is no second file system here';

test('the same holds for a home of which parts are on another disk', { ...manyProcesses, skip: skipSpread }, () => killedEverywhere(spread));

test('with backups on another disk, or on one that is not there, what is replaced is kept in the home itself, and is in no backup', { skip: skipSpread }, async () => {
  await spread(home);
  const { aside } = await restoreHere();
  assert.equal(dirname(aside ?? ''), home);
  assert.deepEqual([await stateOf(home), await stateOf(aside ?? '')], [newState, oldState]);
  const file = join(home, 'backups', 'b.tar.gz');
  const { manifest } = await writeBackup({ home, file, database: { engine: 'sqlite', path: join(home, 'gateway.db') }, version: 'test', clock: systemClock, secrets: true, mediaBytes: 1e6, workspace: false, plainAccounts: [] });
  assert.deepEqual(manifest.files.filter(({ path }) => path.includes('replaced')), []);
  const unmounted = await newHome();
  await symlink(join(otherDisk, 'nowhere'), join(unmounted, 'backups'));
  const second = await restoreBackup({ file: archive, home: unmounted, clock: systemClock, dropOpen: false });
  assert.equal(dirname(second.aside ?? ''), unmounted);
  await rm(unmounted, { recursive: true });
});

test('a restore gets through even if every attempt to finish it is killed after two moves', async () => {
  assert.equal(await inMortal('restore', home, 3), 'killed');
  assert.ok(existsSync(restoringFolder(home)));
  let attempts = 0;
  while ((await inMortal('finish', home, 2)) === 'killed') assert.ok((attempts += 1) < 10);
  assert.ok(attempts > 4);
  assert.deepEqual([await stateOf(home), await stateOf(await replacedIn(home))], [newState, oldState]);
});

test('when something cannot be moved, everything goes back and the home is as it was', async () => {
  await rm(join(home, 'profiles'), { recursive: true });
  await writeFile(join(home, 'profiles'), 'in the way');
  await assert.rejects(restoreHere(), { syscall: 'mkdir' });
  assert.deepEqual(await stateOf(home), { ...oldState, soul: undefined, memory: undefined });
  await assert.rejects(replacedIn(home), /nothing was kept/);
  assert.deepEqual((await readdir(home)).filter((name) => name.startsWith('.rest')), []);
  assert.equal(await finishRestore(home, systemClock), undefined);
});

test('what somebody made in a half restored home is kept, apart from what was replaced', async () => {
  assert.equal(await inMortal('restore', home, 7), 'killed');
  assert.ok(!existsSync(join(home, 'gateway.db')));
  const store = openAt(home);
  await addSession(store, 'stranger');
  await cp(join(home, 'gateway.db-wal'), join(home, 'wal'));
  await store.close();
  await cp(join(home, 'wal'), join(home, 'gateway.db-wal'));
  assert.equal(await settles(home), 'new');
  const later = (await stateOf(join(await replacedIn(home), 'later'))) as typeof oldState;
  assert.deepEqual(later.sessions, ['stranger']);
});

test('nobody goes on with a restore that is at work, nor begins another in between', async () => {
  assert.equal(await inMortal('restore', home, 5), 'killed');
  const lock = lockHome(home);
  let waits = 0;
  await assert.rejects(finishRestore(home, { ...systemClock, sleep: async () => void (waits += 1) }), { name: 'ConfigError', exitCode: 1, message: /being restored right now/ });
  assert.ok(waits > 1);
  const patient = finishRestore(home, { ...systemClock, sleep: async () => lock?.release() });
  assert.equal((await patient)?.file, archive);
  assert.deepEqual(await stateOf(home), newState);
});

test('one that cannot be finished says why, opens nothing, and is finished once that is mended', async () => {
  assert.equal(await inMortal('restore', home, 5), 'killed');
  await rm(join(home, 'profiles'), { recursive: true, force: true });
  await writeFile(join(home, 'profiles'), 'in the way');
  await assert.rejects(finishRestore(home, systemClock), { name: 'ConfigError', exitCode: 78, message: /was interrupted and cannot be finished \(.*profiles.*\)\. Mend that/ });
  await assert.rejects(restoreHere(), { name: 'StoreError', message: /Run hermes status/ });
  await rm(join(home, 'profiles'));
  assert.equal((await finishRestore(home, systemClock))?.file, archive);
  assert.deepEqual(await stateOf(home), newState);
});
