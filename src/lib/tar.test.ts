import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ArchiveFault, readTar, tarEnd, tarHeader, tarPadding } from './tar.ts';

const mtimeMs = Date.UTC(2026, 10, 15, 12);

const archiveOf = (files: Readonly<Record<string, Buffer>>): Buffer =>
  Buffer.concat([...Object.entries(files).flatMap(([name, content]) => [tarHeader({ name, sizeBytes: content.length, mode: 0o600, mtimeMs }), content, tarPadding(content.length)]), tarEnd]);

/** In pieces of a size that fits no boundary. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const filesIn = async (bytes: Buffer, size: number): Promise<Record<string, Buffer>> => {
  const files: Record<string, Buffer> = {};
  for await (const entry of readTar(inPieces(bytes, size))) {
    const pieces: Buffer[] = [];
    for await (const piece of entry.content) pieces.push(piece);
    files[entry.name] = Buffer.concat(pieces);
  }
  return files;
};

const longName = `skills/${'ä'.repeat(90)}/SKILL.md`;
const sample = { 'a.txt': Buffer.from('one'), 'empty': Buffer.alloc(0), [longName]: Buffer.alloc(1024, 7), 'exact': Buffer.alloc(512, 1) };

test('what is written can be read again, in pieces of any size', async () => {
  for (const size of [1, 7, 512, 100_000]) assert.deepEqual(await filesIn(archiveOf(sample), size), sample);
});

test('what is not read of a file is passed over', async () => {
  const names: string[] = [];
  for await (const { name } of readTar(inPieces(archiveOf(sample), 300))) names.push(name);
  assert.deepEqual(names, Object.keys(sample));
});

test('an archive that was cut off anywhere, or changed, is a fault', async () => {
  const whole = archiveOf(sample);
  for (const length of [0, 100, 512, 700, 1024, 2000, whole.length - 1024]) await assert.rejects(filesIn(whole.subarray(0, length), 512), ArchiveFault, String(length));
  const changed = Buffer.from(whole);
  changed[3] = 0x7a;
  await assert.rejects(filesIn(changed, 512), ArchiveFault);
  await assert.rejects(filesIn(Buffer.alloc(2048, 'no archive'), 512), ArchiveFault);
});

test('links are refused', async () => {
  const bytes = archiveOf({ link: Buffer.alloc(0) });
  bytes.write('2', 156, 'latin1');
  const sum = bytes.subarray(0, 512).reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  await assert.rejects(filesIn(bytes, 512), /neither a file nor a folder/);
});

test('a file of more than eight gigabytes keeps its size', async () => {
  const sizeBytes = 9 * 1024 ** 3;
  for await (const entry of readTar(inPieces(Buffer.concat([tarHeader({ name: 'big', sizeBytes, mode: 0o600, mtimeMs })]), 512))) {
    assert.equal(entry.sizeBytes, sizeBytes);
    return;
  }
});

test('the tar program of the machine reads it too', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-tar-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'a.tar');
  await writeFile(file, archiveOf(sample));
  const run = promisify(execFile);
  const found = await run('tar', ['--version']).then(() => true, () => false);
  if (!found) return t.skip('there is no tar here');
  await run('tar', ['-xf', file, '-C', folder]);
  for (const [name, content] of Object.entries(sample)) assert.deepEqual(await readFile(join(folder, name)), content);
});
