import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openLogFile } from './log-file.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hermes-log-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const read = (name: string): string => readFileSync(join(folder, 'logs', name), 'utf8');

test('lines are appended, across restarts, to a file that only its owner may read', async () => {
  const path = join(folder, 'logs', 'a.log');
  for (const line of ['one\n', 'two\n']) {
    const file = openLogFile(path, { maxBytes: 1000, keep: 1 });
    file.write(line);
    await file.close();
  }
  assert.equal(read('a.log'), 'one\ntwo\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a full file makes room: the newest lines and as many older files as wanted are kept, also when all of it is written at once', async () => {
  const file = openLogFile(join(folder, 'logs', 'a.log'), { maxBytes: 10, keep: 2 });
  for (const line of ['line 1\n', 'line 2\n', 'line 3\n', 'line 4\n', 'line 5\n']) file.write(line);
  await file.close();
  assert.deepEqual(readdirSync(join(folder, 'logs')).toSorted(), ['a.log', 'a.log.1', 'a.log.2']);
  assert.deepEqual([read('a.log.2'), read('a.log.1'), read('a.log')], ['line 3\n', 'line 4\n', 'line 5\n']);
});

test('without older files only the newest lines are kept', async () => {
  const file = openLogFile(join(folder, 'logs', 'a.log'), { maxBytes: 10, keep: 0 });
  for (const line of ['line 1\n', 'line 2\n', 'line 3\n']) file.write(line);
  await file.close();
  assert.deepEqual(readdirSync(join(folder, 'logs')), ['a.log']);
  assert.equal(read('a.log'), 'line 3\n');
});

test('a line that was torn, by a full disk or a kill, does not take the next one with it', async () => {
  const path = join(folder, 'logs', 'a.log');
  mkdirSync(join(folder, 'logs'));
  writeFileSync(path, 'whole\nto');
  const file = openLogFile(path, { maxBytes: 1000, keep: 1 });
  file.write('next\n');
  await file.close();
  assert.equal(read('a.log'), 'whole\nto\nnext\n');
});

test('a line larger than the file is written all the same', async () => {
  const file = openLogFile(join(folder, 'logs', 'a.log'), { maxBytes: 10, keep: 1 });
  file.write(`${'x'.repeat(50)}\n`);
  file.write('next\n');
  await file.close();
  assert.equal(read('a.log.1').length, 51);
  assert.equal(read('a.log'), 'next\n');
});

test('a file that cannot be written loses lines, and nothing else', async () => {
  const path = join(folder, 'logs', 'a.log');
  mkdirSync(path, { recursive: true });
  const file = openLogFile(path, { maxBytes: 1000, keep: 1 });
  file.write('lost\n');
  await new Promise((resolve) => setTimeout(resolve, 20));
  file.write('lost as well\n');
  await file.close();
});

const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      // The one that the list itself was read by.
      return false;
    }
  });

test('lines that were never written do not push older ones out', { skip: !existsSync('/dev/full') && 'there is no disk that is always full' }, async () => {
  const path = join(folder, 'logs', 'a.log');
  mkdirSync(join(folder, 'logs'));
  symlinkSync('/dev/full', path);
  writeFileSync(`${path}.1`, 'real\n');
  const file = openLogFile(path, { maxBytes: 10, keep: 1 });
  for (let i = 0; i < 5; i += 1) {
    file.write(`lost ${i}\n`);
    // A file is let go of when a write has failed.
    while (isOpen('/dev/full')) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await file.close();
  assert.equal(read('a.log.1'), 'real\n');
  assert.ok(lstatSync(path).isSymbolicLink());
  rmSync(path);
  const again = openLogFile(path, { maxBytes: 10, keep: 1 });
  again.write('space\n');
  await again.close();
  assert.equal(read('a.log'), 'space\n');
});
