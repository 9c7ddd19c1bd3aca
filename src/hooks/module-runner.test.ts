import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { manualClock, systemClock } from '../lib/clock.ts';
import type { Clock } from '../lib/clock.ts';
import { HookError } from './hook-error.ts';
import { newTestFolder, until } from './hook-folder.test-support.ts';
import type { TestFolder } from './hook-folder.test-support.ts';
import { ModuleRunner } from './module-runner.ts';

interface Running extends AsyncDisposable {
  readonly lines: string[];
  readonly path: string;
  call(event: string, context?: unknown, timeoutMs?: number): Promise<unknown>;
  failure(event: string, timeoutMs?: number): Promise<HookError>;
}

const start = async (folder: TestFolder, code: string, more: { file?: string; clock?: Clock; env?: Record<string, string> } = {}): Promise<Running> => {
  const path = join(folder.path, more.file ?? 'handler.ts');
  await writeFile(path, code);
  const lines: string[] = [];
  const clock = more.clock ?? systemClock;
  const runner = new ModuleRunner({ id: 'test', agent: undefined, handler: { kind: 'module', path } }, { clock, childEnvironment: () => more.env ?? {}, onLine: (line) => void lines.push(line) });
  const call = async (event: string, context: unknown = {}, timeoutMs = 60_000): Promise<unknown> => runner.call(event, context, { clock, timeoutMs, signal: new AbortController().signal });
  return {
    lines,
    path,
    call,
    async failure(event, timeoutMs) {
      const error = await call(event, {}, timeoutMs).then((answer) => answer, (thrown: unknown) => thrown);
      assert.ok(error instanceof HookError, JSON.stringify(error));
      return error;
    },
    [Symbol.asyncDispose]: () => runner.close(),
  };
};

describe('a module as a hook', { concurrency: 4 }, () => {
  test('TypeScript is called with the event and its context, and keeps what it remembers', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'let count: number = 0;\nexport const handle = async (event: string, context: { n: number }) => ({ event, sum: context.n + (count += 1) });');
    assert.deepEqual(await hook.call('agent:end', { n: 10 }), { event: 'agent:end', sum: 11 });
    assert.deepEqual(await hook.call('agent:end', { n: 10 }), { event: 'agent:end', sum: 12 });
  });

  test('JavaScript with a default export works too, in either module system', async () => {
    await using folder = await newTestFolder();
    await using esm = await start(folder, 'export default () => "esm"', { file: 'handler.mjs' });
    assert.equal(await esm.call('x'), 'esm');
    await using cjs = await start(folder, 'module.exports.handle = () => "cjs"', { file: 'handler.cjs' });
    assert.equal(await cjs.call('x'), 'cjs');
  });

  test('it sees nothing of our environment but what it is given', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handle = () => process.env', { env: { MARK: 'yes' } });
    assert.deepEqual(await hook.call('x'), { MARK: 'yes', HERMES_HOOK: 'test' });
  });

  test('what it throws is a failure, and the next call works', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'let n = 0; export const handle = () => { if (n++ === 0) throw new TypeError("oh no"); return n; };');
    const error = await hook.failure('x');
    assert.deepEqual([error.code, error.message.startsWith('TypeError: oh no')], ['failed', true]);
    assert.equal(await hook.call('x'), 2);
  });

  test('one that never comes back, busy or idle, is ended and started anew', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'let n = 0; export const handle = (event: string) => { n += 1; if (event === "busy") for (;;); if (event === "idle") return new Promise(() => undefined); return n; };');
    assert.equal(await hook.call('x'), 1);
    assert.equal((await hook.failure('busy', 300)).code, 'timeout');
    assert.equal(await hook.call('x'), 1, 'it is a fresh one');
    assert.equal((await hook.failure('idle', 100)).code, 'timeout');
    assert.equal(await hook.call('x'), 1);
  });

  test('a call that hangs does not take another with it that still has time', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handle = (event: string) => event === "hang" ? new Promise(() => undefined) : new Promise((resolve) => setTimeout(resolve, 600, "late"));');
    await hook.call('warm');
    const late = hook.call('wait');
    assert.equal((await hook.failure('hang', 100)).code, 'timeout');
    assert.equal(await late, 'late');
  });

  test('an end of its thread is a failure of that call only', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handle = (event: string) => { if (event === "exit") process.exit(1); if (event === "stray") { void Promise.reject(new Error("stray")); return new Promise(() => undefined); } return "fine"; };');
    assert.equal((await hook.failure('exit')).code, 'failed');
    assert.equal(await hook.call('x'), 'fine');
    assert.match((await hook.failure('stray')).message, /stray/);
    assert.equal(await hook.call('x'), 'fine');
  });

  test('one that takes all memory ends alone', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'const kept: unknown[] = []; export const handle = (event: string) => { if (event === "leak") for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i }))); return "fine"; };');
    assert.match((await hook.failure('leak')).message, /256 MB/);
    assert.equal(await hook.call('x'), 'fine');
  });

  test('what it prints is passed on, and a flood of it is not', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handle = () => { for (let i = 0; i < 10_000; i += 1) console.log(`line ${i}`); };');
    assert.equal(await hook.call('x'), null);
    await until(() => hook.lines.length >= 51, 'what it printed');
    assert.equal(hook.lines[0], 'line 0');
    assert.match(hook.lines.at(-1) ?? '', /too much/);
    assert.equal(hook.lines.length, 51);
  });

  test('an answer that is too long or no JSON is none', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handle = (event: string) => event === "long" ? "x".repeat(300_000) : 10n;');
    assert.deepEqual([(await hook.failure('long')).message, (await hook.failure('big')).code], ['it answered with more than 256 KB', 'bad_answer']);
  });

  test('nonsense that it posts on the port of its thread ends that thread alone', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, `import { workerData } from 'node:worker_threads'; export const handle = (event: string) => { if (event === 'x') return 'fine'; workerData.port.postMessage(event === 'json' ? { type: 'answer', id: 1, json: '{' } : 'nonsense'); return new Promise(() => undefined); };`);
    for (const event of ['json', 'nonsense']) {
      assert.equal((await hook.failure(event)).code, 'bad_answer');
      assert.equal(await hook.call('x'), 'fine');
    }
  });

  test('a module that cannot be loaded says why, and is tried again only after a while', async () => {
    await using folder = await newTestFolder();
    const clock = manualClock();
    await using hook = await start(folder, 'import "./missing.ts"; export const handle = () => 1;', { clock });
    assert.equal((await hook.failure('x')).code, 'not_started');
    await writeFile(hook.path, 'export const handle = () => 2;');
    assert.equal((await hook.failure('x')).code, 'not_started');
    await clock.advance(2_000);
    assert.equal(await hook.call('x'), 2);
  });

  test('a module without the function is no hook', async () => {
    await using folder = await newTestFolder();
    await using hook = await start(folder, 'export const handler = 1;');
    assert.match((await hook.failure('x')).message, /exports no function called handle/);
  });
});
