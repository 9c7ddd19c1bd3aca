import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pruneFolder } from './prune-folder.ts';

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 5, 1);
const at = { nowMs, signal: new AbortController().signal };

/** A folder with a folder in it, in which each file has so many bytes and was written so many days ago. */
const folderWith = async (files: Readonly<Record<string, { readonly bytes: number; readonly days: number }>>): Promise<{ readonly folder: string; left(): Promise<readonly string[]> } & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-prune-'));
  const inner = join(folder, '2026-05');
  await mkdir(inner);
  for (const [name, { bytes, days }] of Object.entries(files)) {
    await writeFile(join(inner, name), Buffer.alloc(bytes));
    await utimes(join(inner, name), new Date(nowMs - days * dayMs), new Date(nowMs - days * dayMs));
  }
  return { folder, left: async () => (await readdir(inner)).toSorted(), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
};

test('files older than the limit are removed, younger ones and folders stay', async () => {
  await using some = await folderWith({ 'new.png': { bytes: 1, days: 89 }, 'old.png': { bytes: 1, days: 91 } });
  assert.equal((await pruneFolder(some.folder, { maxAgeMs: 90 * dayMs, maxBytes: 1000 }, at)).removed, 1);
  assert.deepEqual(await some.left(), ['new.png']);
});

test('of files that are too many together, the oldest are removed until the rest fits', async () => {
  await using some = await folderWith({ 'a.png': { bytes: 400, days: 3 }, 'b.png': { bytes: 400, days: 2 }, 'c.png': { bytes: 400, days: 1 } });
  const limits = { maxAgeMs: 90 * dayMs, maxBytes: 800 };
  assert.equal((await pruneFolder(some.folder, limits, at)).removed, 1);
  assert.deepEqual(await some.left(), ['b.png', 'c.png']);
  assert.equal((await pruneFolder(some.folder, limits, at)).removed, 0);
});

test('a folder that is not there is empty, and whoever has to end does so in between', async () => {
  assert.equal((await pruneFolder('/nowhere/at/all', { maxAgeMs: 1, maxBytes: 1 }, at)).removed, 0);
  await using some = await folderWith({ 'old.png': { bytes: 1, days: 91 } });
  await assert.rejects(pruneFolder(some.folder, { maxAgeMs: 1, maxBytes: 1 }, { nowMs, signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.deepEqual(await some.left(), ['old.png']);
});

test('a folder that goes while it is listed costs nothing else', async () => {
  await using some = await folderWith({ 'old.png': { bytes: 1, days: 91 } });
  await writeFile(join(some.folder, 'new.png'), '');
  // Looked at with every entry, before it is opened.
  const signal = Object.assign(new AbortController().signal, { throwIfAborted: () => rmSync(join(some.folder, '2026-05'), { recursive: true, force: true }) });
  assert.equal((await pruneFolder(some.folder, { maxAgeMs: 90 * dayMs, maxBytes: 1000 }, { nowMs, signal })).removed, 0);
});
