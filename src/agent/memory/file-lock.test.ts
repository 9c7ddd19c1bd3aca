import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { manualClock, systemClock } from '../../lib/clock.ts';
import { LockTimeout, withFileLock } from './file-lock.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

const options = { clock: systemClock, signal: new AbortController().signal, waitMs: 30_000 };
const lockPath = (): string => join(folder, 'lock');

/** Reads a number, waits a moment and writes the next one: two at once would lose a step. */
const countOn = (path: string) => async (): Promise<void> => {
  const count = Number(await readFile(path, 'utf8'));
  await systemClock.sleep(1);
  await writeFile(path, String(count + 1));
};

/** A number that no process has: that of one which has just ended. */
const deadPid = async (): Promise<number> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['-p', 'process.pid']);
  return Number(stdout);
};

const leaveBehind = (facts: object): Promise<void> => writeFile(lockPath(), JSON.stringify({ pid: process.pid, host: hostname(), nonce: 'left', atMs: Date.now(), ...facts }));

test('one at a time, and the lock is gone afterwards', async () => {
  const counter = join(folder, 'count');
  await writeFile(counter, '0');
  await Promise.all(Array.from({ length: 25 }, () => withFileLock(lockPath(), options, countOn(counter))));
  assert.equal(await readFile(counter, 'utf8'), '25');
  assert.deepEqual(await readdir(folder), ['count']);
});

test('several processes take turns, also over a lock that a dead one has left', async () => {
  const counter = join(folder, 'count');
  await writeFile(counter, '0');
  await leaveBehind({ pid: await deadPid() });
  const script = `
    import { readFile, writeFile } from 'node:fs/promises';
    import { systemClock } from ${JSON.stringify(fileURLToPath(new URL('../../lib/clock.ts', import.meta.url)))};
    import { withFileLock } from ${JSON.stringify(fileURLToPath(new URL('./file-lock.ts', import.meta.url)))};
    const options = { clock: systemClock, signal: new AbortController().signal, waitMs: 60_000 };
    for (let i = 0; i < 20; i += 1) await withFileLock(${JSON.stringify(lockPath())}, options, async () => {
      const count = Number(await readFile(${JSON.stringify(counter)}, 'utf8'));
      await systemClock.sleep(1);
      await writeFile(${JSON.stringify(counter)}, String(count + 1));
    });`;
  await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])));
  assert.equal(await readFile(counter, 'utf8'), '60');
  assert.deepEqual(await readdir(folder), ['count']);
});

test('whoever fails gives the lock back', async () => {
  await assert.rejects(
    withFileLock(lockPath(), options, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.equal(await withFileLock(lockPath(), options, async () => 'free'), 'free');
});

test('a lock of a process that lives is waited for, then given up with a name', async () => {
  await leaveBehind({});
  await assert.rejects(withFileLock(lockPath(), { ...options, waitMs: 50 }, async () => undefined), LockTimeout);
  await assert.rejects(withFileLock(lockPath(), { ...options, signal: AbortSignal.abort(new Error('stopped')) }, async () => undefined), /stopped/);
});

test('a lock that is held for too long, or was never written, is taken over', async () => {
  await leaveBehind({ atMs: Date.now() - 120_000 });
  assert.equal(await withFileLock(lockPath(), options, async () => 'taken'), 'taken');
  await writeFile(lockPath(), '');
  const clock = manualClock();
  const course = { isTaken: false };
  const taking = withFileLock(lockPath(), { ...options, clock, waitMs: 60 }, async () => (course.isTaken = true));
  while (!course.isTaken) await clock.advance(1);
  await taking;
  await leaveBehind({ host: 'another machine', pid: await deadPid() });
  await assert.rejects(withFileLock(lockPath(), { ...options, waitMs: 50 }, async () => undefined), LockTimeout, 'the numbers of another machine say nothing here');
});

test('whoever lost the lock can notice, and does not take it away from its new holder', async () => {
  await withFileLock(lockPath(), options, async (isHeld) => {
    assert.equal(await isHeld(), true);
    await leaveBehind({ nonce: 'another' });
    assert.equal(await isHeld(), false);
  });
  assert.match(await readFile(lockPath(), 'utf8'), /another/);
});
