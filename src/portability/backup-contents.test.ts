import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupContents } from './backup-contents.ts';

test('a folder that goes while a home is looked through costs the backup nothing else', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-contents-'));
  try {
    await mkdir(join(home, 'skills', 'gone'), { recursive: true });
    await writeFile(join(home, 'skills', 'gone', 'a.md'), 'a');
    await writeFile(join(home, 'skills', 'stays.md'), 'b');
    // Asked for every entry, before it is opened.
    const includes = (path: string): boolean => {
      if (path === join(home, 'skills', 'gone')) rmSync(path, { recursive: true });
      return false;
    };
    const { files } = await backupContents(home, { secrets: false, secretFiles: Object.assign([], { includes }), mediaBytes: 0, workspace: false });
    assert.deepEqual(files.map(({ path }) => path), ['skills/stays.md']);
    await assert.rejects(backupContents(join(home, 'nowhere'), { secrets: false, mediaBytes: 0, workspace: false }), { code: 'ENOENT' });
  } finally {
    await rm(home, { recursive: true });
  }
});
