import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pruneMedia } from './prune-media.ts';

const dayMs = 86_400_000;

test('files older than the limit are removed, younger ones and folders stay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-media-'));
  const nowMs = Date.now();
  await mkdir(join(folder, '2026-01'));
  for (const [name, days] of [['old.png', 91], ['new.png', 89]] as const) {
    const path = join(folder, '2026-01', name);
    await writeFile(path, 'x');
    await utimes(path, new Date(nowMs - days * dayMs), new Date(nowMs - days * dayMs));
  }
  assert.equal(await pruneMedia(folder, 90, { nowMs, signal: new AbortController().signal }), 1);
  assert.deepEqual(await readdir(join(folder, '2026-01')), ['new.png']);
  await rm(folder, { recursive: true });
});
