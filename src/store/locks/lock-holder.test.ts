import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hasHomeOpen, homeHolder, homeOpener } from './lock-holder.ts';

const takeHome = `
  const { lockHome } = await import(process.argv[1]);
  const lock = lockHome(process.argv[2]);
  process.stdin.on('end', () => lock.release()).resume();
  console.log('taken');
`;

test('whoever has a home is found by its lock, and where the kernel tells of no locks by the file that it has open', { skip: process.platform !== 'linux' && 'only Linux tells' }, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-holder-'));
  t.after(() => rm(home, { recursive: true }));
  assert.deepEqual([homeHolder(home), homeOpener(home)], [undefined, undefined]);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', takeHome, fileURLToPath(new URL('home-lock.ts', import.meta.url)), home], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  assert.equal(homeOpener(home), child.pid);
  assert.deepEqual([hasHomeOpen(home, child.pid ?? 0), hasHomeOpen(home, process.pid)], [true, false]);
  // Some file systems have other numbers than those by which the kernel speaks of them.
  assert.ok([child.pid, undefined].includes(homeHolder(home)));
  child.stdin.end();
  await ended;
  assert.deepEqual([homeHolder(home), homeOpener(home), hasHomeOpen(home, child.pid ?? 0)], [undefined, undefined, false]);
});
