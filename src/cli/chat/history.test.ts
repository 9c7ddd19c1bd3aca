import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { addToHistory, loadHistory } from './history.ts';

const withPath = async (work: (path: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-history-'));
  try {
    await work(join(folder, 'history'));
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('what was typed comes back whole, several lines as one, for the owner alone', () =>
  withPath(async (path) => {
    assert.deepEqual(await loadHistory(path), []);
    for (const entry of ['one', 'two\nlines "quoted" 世界', ' secret', 'x'.repeat(20_000)]) await addToHistory(path, entry);
    assert.deepEqual(await loadHistory(path), ['one', 'two\nlines "quoted" 世界']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  }));

test('a line that is damaged costs only itself', () =>
  withPath(async (path) => {
    await writeFile(path, '"one"\n{broken\n42\n"two"\n"cut');
    assert.deepEqual(await loadHistory(path), ['one', 'two']);
  }));

test('the file does not grow for ever', () =>
  withPath(async (path) => {
    await writeFile(path, Array.from({ length: 2500 }, (_, i) => `"entry ${i}"\n`).join(''));
    const entries = await loadHistory(path);
    assert.deepEqual([entries.length, entries[0], entries.at(-1)], [1000, 'entry 1500', 'entry 2499']);
    assert.equal((await readFile(path, 'utf8')).split('\n').length, 1001);
  }));
