import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sendSignal, writtenPid } from './process.ts';

test('a signal to a process that has gone in the meantime is no failure', () => {
  const { pid } = spawnSync(process.execPath, ['--eval', '']);
  assert.equal(sendSignal(pid, 'SIGTERM'), false);
});

test('who runs in a home is told by its file; none, and one that is just being written, tell nothing', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-pid-'));
  const file = join(home, 'gateway.pid');
  try {
    assert.equal(writtenPid(home), undefined);
    await writeFile(file, '');
    assert.equal(writtenPid(home), undefined);
    await writeFile(file, '4711\n');
    assert.equal(writtenPid(home)?.pid, 4711);
  } finally {
    await rm(home, { recursive: true });
  }
});
