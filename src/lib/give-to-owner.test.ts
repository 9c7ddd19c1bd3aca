import assert from 'node:assert/strict';
import { chown, lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { giveToOwner, makeFolders } from './give-to-owner.ts';

test('what root has made in the folder of somebody else is theirs, a link but not what it leads to', { skip: process.getuid?.() !== 0 && 'only root can' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-give-'));
  t.after(() => rm(folder, { recursive: true }));
  const [theirs, elsewhere] = [join(folder, 'theirs'), join(folder, 'elsewhere')];
  await Promise.all([mkdir(theirs), writeFile(elsewhere, '')]);
  await chown(theirs, 4711, 4712);
  await makeFolders(join(theirs, 'a', 'b'));
  await Promise.all([writeFile(join(theirs, 'a', 'b', 'file'), ''), symlink(elsewhere, join(theirs, 'a', 'link'))]);
  await giveToOwner(join(theirs, 'a'), theirs);
  for (const path of ['a', 'a/b', 'a/b/file', 'a/link']) {
    const { uid, gid } = await lstat(join(theirs, path));
    assert.deepEqual([uid, gid], [4711, 4712], path);
  }
  assert.equal((await stat(elsewhere)).uid, 0);
  await makeFolders(join(theirs, 'c', 'd'));
  assert.deepEqual([(await stat(join(theirs, 'c'))).uid, (await stat(join(theirs, 'c', 'd'))).uid], [4711, 4711]);
});
