import assert from 'node:assert/strict';
import { chown, mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeAtomically } from './write-atomically.ts';

test('the file is replaced as a whole, for its owner alone, and a link to it stays one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-write-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeAtomically(join(folder, 'file'), 'old and longer');
  if (process.platform !== 'win32') await symlink('file', join(folder, 'link'));
  await writeAtomically(join(folder, process.platform === 'win32' ? 'file' : 'link'), 'new');
  assert.equal(await readFile(join(folder, 'file'), 'utf8'), 'new');
  if (process.platform !== 'win32') assert.equal((await stat(join(folder, 'file'))).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(folder)).filter((name) => name.endsWith('.tmp')), []);
});

test('what root writes into the folder of somebody else is theirs', { skip: process.getuid?.() !== 0 && 'only root can' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-write-'));
  t.after(() => rm(folder, { recursive: true }));
  await chown(folder, 4711, 4712);
  await writeAtomically(join(folder, 'file'), 'text');
  const { uid, gid } = await stat(join(folder, 'file'));
  assert.deepEqual([uid, gid], [4711, 4712]);
});
