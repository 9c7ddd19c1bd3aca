import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import { sweepPartial } from './sweep-partial.ts';
import { writeBackup } from './write-backup.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-sweep-'));
});
afterEach(() => rm(folder, { recursive: true }));

const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 10, 15);

/** A folder with one file in it, each last written so long ago. */
const put = async (name: string, ageMs: { readonly folder: number; readonly file: number }): Promise<string> => {
  const path = join(folder, name);
  await mkdir(path);
  await writeFile(join(path, 'gateway.db'), 'words');
  const at = (age: number): Date => new Date(nowMs - age);
  await utimes(join(path, 'gateway.db'), at(ageMs.file), at(ageMs.file));
  await utimes(path, at(ageMs.folder), at(ageMs.folder));
  return path;
};

test('what killed backups and restores have left for more than an hour goes; what is still written, and everything else, stays', async () => {
  await put('.partial-dead', { folder: 2 * hourMs, file: 2 * hourMs });
  await put('.restore-dead', { folder: 2 * hourMs, file: 2 * hourMs });
  await put('.partial-written', { folder: 2 * hourMs, file: 1000 });
  await put('.partial-new', { folder: 1000, file: 2 * hourMs });
  await put('replaced-by-me', { folder: 2 * hourMs, file: 2 * hourMs });
  await writeFile(join(folder, 'hermes.tar.gz'), '');
  assert.deepEqual((await sweepPartial(folder, nowMs)).toSorted(), ['.partial-dead', '.restore-dead']);
  assert.deepEqual((await readdir(folder)).toSorted(), ['.partial-new', '.partial-written', 'hermes.tar.gz', 'replaced-by-me']);
  assert.deepEqual(await sweepPartial(join(folder, 'nowhere'), nowMs), []);
});

test('one that another process holds stays however old it is, and goes once that process was killed', async (t) => {
  const path = await put('.partial-held', { folder: 0, file: 0 });
  const module = new URL('./sweep-partial.ts', import.meta.url).href;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', `import { holdPartial } from ${JSON.stringify(module)}; globalThis.held = holdPartial(${JSON.stringify(path)}); console.log('held'); setInterval(() => {}, 1000);`], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const later = Date.now() + 2 * hourMs;
  assert.deepEqual(await sweepPartial(folder, later), []);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  assert.deepEqual(await sweepPartial(folder, later), ['.partial-held']);
});

test('the next backup sweeps up after one that was killed', async () => {
  await put('.partial-dead', { folder: 2 * hourMs, file: 2 * hourMs });
  const home = join(folder, 'home');
  await mkdir(home);
  const clock = { ...systemClock, now: () => nowMs };
  await writeBackup({ home, file: join(folder, 'new.tar.gz'), database: { engine: 'sqlite', path: join(home, 'gateway.db') }, version: 'test', clock, secrets: true, mediaBytes: 0, workspace: false, plainAccounts: [] });
  assert.deepEqual((await readdir(folder)).toSorted(), ['home', 'new.tar.gz']);
});
