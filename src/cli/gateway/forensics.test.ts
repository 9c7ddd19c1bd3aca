import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { capturingLogger } from '../../lib/logger.ts';
import { endFacts, endWithin, logCrashes, writeReport } from './forensics.ts';

const running = (turn: number, tools: readonly string[] = []) => ({ session: `s${turn}`, turn, account: 'telegram', chat: '7', sinceMs: turn * 1000, tools });

test('an end is written down with who asked for it and what was running', () => {
  const facts = endFacts('restart', { env: { INVOCATION_ID: 'x' }, running: [running(1, ['terminal']), running(2)], askedBy: '/restart by 7 in telegram:7' });
  assert.deepEqual([facts.why, facts.asked_by, facts.running_turns, facts.under_systemd, facts.parent.pid], ['restart', '/restart by 7 in telegram:7', 2, true, process.ppid]);
  assert.deepEqual(facts.running, [
    { session: 's1', turn: 1, account: 'telegram', chat: '7', since: '1970-01-01T00:00:01.000Z', tools: ['terminal'] },
    { session: 's2', turn: 2, account: 'telegram', chat: '7', since: '1970-01-01T00:00:02.000Z' },
  ]);
  assert.equal(facts.load.length, 3);
});

test('of many running turns the oldest are named, and all are counted', () => {
  const facts = endFacts('SIGTERM', { env: {}, running: Array.from({ length: 30 }, (_none, i) => running(i + 1)) });
  assert.deepEqual([facts.running_turns, facts.running.length, facts.running[0]?.turn, 'asked_by' in facts], [30, 20, 1, false]);
});

test('a report is for its owner alone, and holds neither the environment nor secrets', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-report-'));
  // A thread has a report of its own inside.
  const thread = new Worker('setInterval(() => undefined, 1000)', { eval: true });
  try {
    await once(thread, 'online');
    await mkdir(join(home, 'logs'));
    const path = writeReport(home, (text) => text.replaceAll(process.execPath, '***'), new Date(0));
    const text = await readFile(path, 'utf8');
    assert.match(path, /logs\/report\.19700101\.000000\.000\.\d+\.json$/);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.doesNotMatch(text, /environmentVariables/);
    assert.ok(!text.includes(process.execPath));
    assert.ok(Array.isArray((JSON.parse(text) as { libuv: unknown }).libuv));
  } finally {
    await thread.terminate();
    await rm(home, { recursive: true });
  }
});

test('of a report that the disk has no room for nothing is left', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-report-'));
  const path = join(home, 'logs', `report.19700101.000000.000.${process.pid}.json`);
  try {
    await mkdir(join(home, 'logs'));
    await symlink('/dev/full', path);
    assert.throws(() => writeReport(home, (text) => text, new Date(0)), { code: 'ENOSPC' });
    assert.deepEqual(await readdir(join(home, 'logs')), []);
  } finally {
    await rm(home, { recursive: true });
  }
});

test('an end that takes too long is cut off and says so; one in time is not', async () => {
  const { log, lines } = capturingLogger();
  const code = await new Promise<number>((resolve) => {
    endWithin(1, log, resolve);
    setTimeout(() => undefined, 1000);
  });
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /"level":"fatal".*gateway\.hard_exit/);
  endWithin(1, log, () => assert.fail('it had been told to let go'))[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 20));
});

test('an error that nobody caught is logged before the process ends, and nothing is left to do for Node', async () => {
  const { log, lines } = capturingLogger();
  const others = process.listeners('uncaughtException');
  const ended = Promise.withResolvers<readonly [number, boolean]>();
  let closed = false;
  const close = async (): Promise<void> => void (closed = true);
  const crashes = logCrashes(log, close, (code) => ended.resolve([code, closed]));
  const ours = process.listeners('uncaughtException').find((listener) => !others.includes(listener));
  ours?.(new Error('out of luck'), 'uncaughtException');
  assert.deepEqual(await ended.promise, [1, true]);
  assert.match(lines.join('\n'), /"level":"fatal".*out of luck.*gateway\.crashed/);
  crashes[Symbol.dispose]();
  assert.deepEqual(process.listeners('uncaughtException'), others);
});

test('a crash whose log never closes is still a failure', async () => {
  const module = new URL('./forensics.ts', import.meta.url).href;
  const script = `import { logCrashes } from ${JSON.stringify(module)};
    logCrashes({ fatal: () => undefined }, () => new Promise(() => undefined));
    setImmediate(() => { throw new Error('out of luck'); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  assert.deepEqual(await once(child, 'exit'), [1, null]);
});
