import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import type { MemoryChange } from './entries.ts';
import { changeMemoryFile, readMemoryFile } from './memory-file.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-memory-'));
});
afterEach(() => rm(home, { recursive: true }));

const folder = (): string => join(home, 'memories');
const file = () => ({ path: join(folder(), 'MEMORY.md'), limitChars: 100 });
const deps = { clock: systemClock, signal: new AbortController().signal };
/** Nobody's patience ends because the machine is slow. */
const patient = { ...deps, clock: { ...systemClock, now: () => 0 } };
const change = (what: MemoryChange) => changeMemoryFile(file(), what, deps);
const add = (content: string) => change({ action: 'add', content });
const write = async (text: string | Uint8Array): Promise<void> => {
  await mkdir(folder(), { recursive: true });
  await writeFile(file().path, text);
};

test('entries are written to a file of ours alone and read back', async () => {
  assert.deepEqual(await readMemoryFile(file()), { entries: [] });
  await add('one');
  await add('two\nlines');
  assert.equal(await readFile(file().path, 'utf8'), 'one\n§\ntwo\nlines\n');
  assert.deepEqual(await readMemoryFile(file()), { entries: ['one', 'two\nlines'] });
  assert.deepEqual(await readdir(folder()), ['MEMORY.md'], 'nothing is left beside it');
  if (process.platform !== 'win32') assert.equal((await stat(file().path)).mode & 0o777, 0o600);
});

test('many writers at once lose nothing', async () => {
  await Promise.all(Array.from({ length: 15 }, (_, i) => changeMemoryFile(file(), { action: 'add', content: `e${i}` }, patient)));
  assert.equal((await readMemoryFile(file())).entries.length, 15);
});

test('what is refused leaves the file as it is', async () => {
  await add('one');
  assert.deepEqual(await add('one'), { type: 'duplicate' });
  assert.equal((await add('x'.repeat(100))).type, 'too_long');
  assert.equal((await change({ action: 'remove', oldText: 'two' })).type, 'no_match');
  assert.equal(await readFile(file().path, 'utf8'), 'one\n');
});

test('a file that people tidied in their own way is taken as it is', async () => {
  await write('\uFEFFone\r\n\r\n§\r\n\r\ntwo\r\n');
  await add('three');
  assert.equal(await readFile(file().path, 'utf8'), 'one\n§\ntwo\n§\nthree\n');
});

test('text that was added without a separator is not swept away with an entry: nothing is written and a copy is kept', async () => {
  const text = `one\n${'notes of somebody else\n'.repeat(10)}`;
  await write(text);
  const outcome = await change({ action: 'remove', oldText: 'one' });
  assert.equal(outcome.type, 'drifted');
  assert.ok(outcome.type === 'drifted');
  assert.match(outcome.reason, /more than 100 characters/);
  assert.equal(await readFile(file().path, 'utf8'), text);
  assert.equal(await readFile(join(folder(), outcome.copy), 'utf8'), text);
  assert.deepEqual(await change({ action: 'remove', oldText: 'one' }), outcome, 'the same content is kept once');
});

test('bytes that are no text are never written anew, and no more than five copies are kept', async () => {
  for (let i = 0; i < 8; i += 1) {
    await write(Uint8Array.of(0xff, 0xfe, i));
    assert.equal((await add('one')).type, 'drifted');
  }
  assert.equal((await readMemoryFile(file())).problem, 'it is not a UTF-8 text');
  const copies = (await readdir(folder())).filter((name) => name.includes('.bak.'));
  assert.equal(copies.length, 5);
  const newest = copies.toSorted().at(-1) ?? '';
  assert.deepEqual([...(await readFile(join(folder(), newest)))], [0xff, 0xfe, 7]);
});
