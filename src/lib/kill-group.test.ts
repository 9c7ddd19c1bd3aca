import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { killGroup } from './kill-group.ts';

const noGroups = process.platform === 'win32' ? 'there are no groups of processes' : false;

test('a leader is ended with all that it has started, and ending it again does nothing', { skip: noGroups }, async () => {
  const child = `require('node:child_process').spawn(process.execPath, ['-e', 'process.stdout.write("up"); setInterval(() => {}, 1000)'], { stdio: 'inherit' }); setInterval(() => {}, 1000)`;
  const leader = spawn(process.execPath, ['-e', child], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  assert.ok(leader.pid !== undefined);
  await once(leader.stdout, 'data');
  killGroup(leader.pid);
  // It closes when nobody is left who could write to it.
  const [code, signal] = await once(leader, 'close');
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
  killGroup(leader.pid);
});

test('what the system would take for every process, or for our own group, is refused', () => {
  for (const leader of [0, 1, -1, Number.NaN]) assert.throws(() => killGroup(leader), RangeError);
});
