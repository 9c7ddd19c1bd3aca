import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileEntry } from './file-entry.ts';
import type { TakenFile } from './file-entry.ts';

interface Entry {
  readonly header: Buffer;
  readonly content: Buffer;
  readonly taken: TakenFile | undefined;
}

/** Takes a file of so many bytes, to which something happens as soon as its header is written. */
const takeFile = async (bytes: number, meanwhile: (path: string) => Promise<void>): Promise<Entry> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-entry-'));
  try {
    const path = join(folder, 'f');
    await writeFile(path, Buffer.alloc(bytes, 'x'));
    const entry = fileEntry(path, 'f');
    const pieces: Buffer[] = [];
    for (;;) {
      const { value, done } = await entry.next();
      if (done === true) return { header: pieces[0] ?? Buffer.alloc(0), content: Buffer.concat(pieces.slice(1)), taken: value };
      if (pieces.length === 0) await meanwhile(path);
      pieces.push(value);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
};

const sizeIn = (header: Buffer): number => Number.parseInt(header.subarray(124, 135).toString(), 8);

test('a large file that becomes shorter while it is read keeps the size that was announced, and is told', async () => {
  const { header, content, taken } = await takeFile(1_000_000, (path) => truncate(path, 500_000));
  const kept = content.subarray(0, 1_000_000);
  assert.equal(sizeIn(header), 1_000_000);
  assert.ok(kept.subarray(0, 500_000).every((byte) => byte === 120) && kept.subarray(500_000).every((byte) => byte === 0));
  assert.deepEqual(taken, { written: { path: 'f', sizeBytes: 1_000_000, sha256: createHash('sha256').update(kept).digest('hex') }, isWhole: false });
  assert.equal(content.length % 512, 0);
});

test('of a file that grows while it is read as much is taken as was announced, and of a small one all that it was', async () => {
  const grown = await takeFile(600_000, (path) => appendFile(path, 'more'));
  assert.deepEqual([sizeIn(grown.header), grown.taken?.written.sizeBytes, grown.taken?.isWhole], [600_000, 600_000, true]);
  const small = await takeFile(1000, (path) => truncate(path, 0));
  assert.deepEqual([small.taken?.isWhole, small.content.subarray(0, 1000).toString()], [true, 'x'.repeat(1000)]);
});
