import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { planEnd, takePlannedEnd } from './planned-end.ts';

test('whoever was asked to end learns what for and by whom, once, and nobody else does', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-end-'));
  try {
    await planEnd(home, { pid: 42, end: 'restart' });
    assert.deepEqual(takePlannedEnd(home, 42), { end: 'restart', askedBy: `the command line, process ${process.pid}` });
    assert.equal(takePlannedEnd(home, 42), undefined);
    await planEnd(home, { pid: 42, end: 'stop' });
    assert.deepEqual(takePlannedEnd(home, 42), { end: 'stop', askedBy: `the command line, process ${process.pid}` });
    await planEnd(home, { pid: 42, end: 'replaced' });
    assert.deepEqual(takePlannedEnd(home, 42), { end: 'replaced', askedBy: `the gateway that takes over, process ${process.pid}` });
    await planEnd(home, { pid: 42, end: 'restart' });
    assert.equal(takePlannedEnd(home, 43), undefined);
  } finally {
    await rm(home, { recursive: true });
  }
});
