import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { bareEnvironment, newTestFolder, until } from './hook-folder.test-support.ts';
import { HookError } from './hook-error.ts';
import { runProgram } from './run-program.ts';

const never = new AbortController().signal;

const run = async (folder: string, code: string, more: { clock?: Clock; timeoutMs?: number; input?: string; signal?: AbortSignal; lines?: string[] } = {}): Promise<string> => {
  const path = join(folder, 'handler');
  await writeFile(path, `#!/bin/sh\n${code}\n`, { mode: 0o755 });
  const program = { command: [path] as const, folder, env: { ...bareEnvironment, MARK: 'yes' }, input: more.input ?? '', onLine: (line: string) => void more.lines?.push(line) };
  return runProgram(program, { clock: more.clock ?? systemClock, timeoutMs: more.timeoutMs ?? 60_000, signal: more.signal ?? never });
};

const failure = async (work: Promise<unknown>): Promise<HookError> => {
  const error = await work.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof HookError, String(error));
  return error;
};

/** What nobody has asked for the exit code of is dead all the same. */
const isAlive = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
};

describe('a program as a hook', { concurrency: true, skip: process.platform === 'win32' ? 'there is no sh' : false }, () => {
  test('it gets its input, its folder and nothing of our environment but what it is given', async () => {
    await using folder = await newTestFolder();
    process.env['HERMES_TEST_SECRET'] = 'leaked';
    const output = await run(folder.path, 'cat; pwd; env', { input: '{"event":"x"}\n' });
    delete process.env['HERMES_TEST_SECRET'];
    const [input, cwd, ...env] = output.trim().split('\n');
    assert.equal(input, '{"event":"x"}');
    assert.equal(cwd?.split('/').at(-1), folder.path.split('/').at(-1));
    assert.ok(env.includes('MARK=yes'));
    assert.ok(!output.includes('leaked'));
  });

  test('it may leave without reading what it is given', async () => {
    await using folder = await newTestFolder();
    assert.equal(await run(folder.path, 'echo 1', { input: 'x'.repeat(2_000_000) }), '1\n');
  });

  test('an exit code is a failure, and what it prints is passed on', async () => {
    await using folder = await newTestFolder();
    const lines: string[] = [];
    const error = await failure(run(folder.path, 'echo why >&2; exit 3', { lines }));
    assert.deepEqual([error.code, error.message, lines], ['failed', 'it left with exit code 3', ['why']]);
  });

  test('what cannot be run says why', async () => {
    await using folder = await newTestFolder();
    const missing = { command: [join(folder.path, 'nothing')] as const, folder: folder.path, env: bareEnvironment, input: '', onLine: () => undefined };
    assert.equal((await failure(runProgram(missing, { clock: systemClock, timeoutMs: 5_000, signal: never }))).code, 'not_started');
  });

  test('one that hangs is ended with everything that it has started', async () => {
    await using folder = await newTestFolder();
    // Its time is up when it has said what it has started.
    const clock: Clock = {
      ...systemClock,
      async sleep(_ms, signal) {
        while (!existsSync(join(folder.path, 'ready'))) await systemClock.sleep(5, signal);
      },
    };
    const error = await failure(run(folder.path, 'sleep 300 & echo $! > child; echo $$ > self; : > ready; wait', { clock }));
    assert.equal(error.code, 'timeout');
    const pids = await Promise.all(['child', 'self'].map(async (file): Promise<number> => Number(await readFile(join(folder.path, file), 'utf8'))));
    for (const pid of pids) await until(async () => !(await isAlive(pid)), 'both to be gone');
  });

  test('what it leaves in the background does not outlive it, and is not waited for', async () => {
    await using folder = await newTestFolder();
    assert.equal(await run(folder.path, 'sleep 300 & echo $! > child; echo done'), 'done\n');
    const pid = Number(await readFile(join(folder.path, 'child'), 'utf8'));
    await until(async () => !(await isAlive(pid)), 'the child to be gone');
  });

  test('one that answers or prints without end is ended', async () => {
    await using folder = await newTestFolder();
    const answering = await failure(run(folder.path, 'while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'));
    assert.deepEqual([answering.code, answering.message], ['bad_answer', 'it answered with more than 256 KB']);
    const lines: string[] = [];
    const printing = await failure(run(folder.path, 'while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; done', { lines }));
    assert.equal(printing.message, 'it printed more than 1 MB');
    assert.ok(lines.length <= 102, `${lines.length} lines`);
  });

  test('it is ended when we end', async () => {
    await using folder = await newTestFolder();
    const stop = new AbortController();
    const running = failure(run(folder.path, 'echo $$ > self; sleep 300', { signal: stop.signal }));
    const pid = async (): Promise<number> => Number(await readFile(join(folder.path, 'self'), 'utf8').catch(() => '0'));
    await until(async () => (await pid()) > 0, 'it to begin');
    stop.abort();
    assert.equal((await running).code, 'aborted');
    const self = await pid();
    await until(async () => !(await isAlive(self)), 'it to be gone');
  });
});
