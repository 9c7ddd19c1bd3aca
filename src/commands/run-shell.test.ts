import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import { manualClock, systemClock } from '../lib/clock.ts';
import { runShell } from './run-shell.ts';
import type { ShellOptions } from './run-shell.ts';

const never = new AbortController().signal;
const options = (more: Partial<ShellOptions> = {}): ShellOptions => ({ env: { PATH: '/usr/bin:/bin' }, timeLimitMs: 60_000, maxOutputBytes: 1000, clock: systemClock, signal: never, ...more });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A line that writes the number of a process of its own into a file and goes on for ever. */
const endless = (file: string): string => `sleep 1000 & echo $! > ${file}; wait`;

const started = async (file: string): Promise<number> => {
  let pid = Number.NaN;
  await until(async () => {
    pid = Number(await readFile(file, 'utf8').catch(() => ''));
    return pid > 0;
  }, 'the process to start');
  return pid;
};

describe('a line in a shell', { skip: process.platform === 'win32' && 'there is no POSIX shell' }, () => {
  test('gives what it printed and how it ended, and has no environment but the given one', async () => {
    const ran = await runShell('echo out; echo err >&2; env | wc -l; exit 4', options({ env: { PATH: '/usr/bin:/bin', A: 'b' } }));
    assert.deepEqual([ran.exitCode, ran.end, ran.stderr], [4, 'exited', 'err\n']);
    // The shell adds PWD and the like.
    assert.ok(Number(ran.stdout.split('\n')[1]) < 8, ran.stdout);
    assert.equal((await runShell('echo "$HERMES_HOME$HOME"', options())).stdout.trim(), '');
  });

  test('has bounded output', async () => {
    const ran = await runShell('yes | head -c 100000', options());
    assert.equal(ran.stdout.length, 1000 + '\n[… cut off]'.length);
  });

  test('is ended with all that it has started when its time is up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-shell-'));
    try {
      const clock = manualClock();
      const running = runShell(endless(join(folder, 'pid')), options({ clock, timeLimitMs: 30_000 }));
      const pid = await started(join(folder, 'pid'));
      await clock.advance(29_999);
      assert.ok(isAlive(pid));
      await clock.advance(1);
      const ran = await running;
      assert.deepEqual([ran.end, ran.exitCode], ['time limit', null]);
      await until(() => !isAlive(pid), 'the rest of the group to end');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('is ended when it is to be cut off, and says why', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-shell-'));
    try {
      const stop = new AbortController();
      const running = runShell(endless(join(folder, 'pid')), options({ signal: stop.signal }));
      const pid = await started(join(folder, 'pid'));
      stop.abort(new Error('shutting down'));
      await assert.rejects(running, /shutting down/);
      await until(() => !isAlive(pid), 'the rest of the group to end');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('does not wait for what it leaves in the background, and leaves nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-shell-'));
    try {
      const file = join(folder, 'pid');
      const ran = await runShell(`sleep 1000 & echo $! > ${file}; echo done`, options());
      assert.deepEqual([ran.stdout, ran.end], ['done\n', 'exited']);
      const pid = await started(file);
      await until(() => !isAlive(pid), 'the process in the background to end');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
