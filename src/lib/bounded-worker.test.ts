import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBoundedWorker } from './bounded-worker.ts';
import type { WorkerEnd } from './bounded-worker.ts';
import { manualClock, systemClock } from './clock.ts';
import type { Clock } from './clock.ts';

const never = new AbortController().signal;
const source = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';\n${code}`)}`);

const run = async (code: string, options: { clock?: Clock; signal?: AbortSignal; heapMb?: number } = {}): Promise<{ end: WorkerEnd; said: unknown[] }> => {
  const said: unknown[] = [];
  const task = { module: source(code), data: 'ping', timeoutMs: 60_000, heapMb: options.heapMb ?? 64, clock: options.clock ?? systemClock, onMessage: (message: unknown) => void said.push(message) };
  return { end: await runBoundedWorker(task, options.signal ?? never), said };
};

test('a module gets its data, and everything it says arrives before its end', async () => {
  assert.deepEqual(await run("for (let i = 0; i < 100; i += 1) parentPort.postMessage(workerData + i);"), { end: { type: 'done' }, said: Array.from({ length: 100 }, (_, index) => `ping${index}`) });
});

test('one that never ends is ended when its time is up; what it said before has arrived', async () => {
  const clock = manualClock();
  const said: unknown[] = [];
  const heard = Promise.withResolvers<void>();
  const running = runBoundedWorker({ module: source("parentPort.postMessage('hello'); /^(a+)+$/.test('a'.repeat(60) + '!');"), data: null, timeoutMs: 5000, heapMb: 64, clock, onMessage: (message: unknown) => {
    said.push(message);
    heard.resolve();
  } }, never);
  await heard.promise;
  await clock.advance(5000);
  assert.deepEqual([await running, said], [{ type: 'timed_out' }, ['hello']]);
});

test('one that wants all memory is ended', async () => {
  assert.deepEqual((await run('const all = []; for (;;) all.push(new Array(10_000).fill(all.length));', { heapMb: 16 })).end, { type: 'out_of_memory' });
});

test('one that throws says why, and an abort rejects with its reason', async () => {
  const { end } = await run("throw new Error('broken');");
  assert.ok(end.type === 'failed' && end.cause instanceof Error && end.cause.message === 'broken');
  const stop = new AbortController();
  const running = run('setInterval(() => undefined, 1000);', { signal: stop.signal });
  stop.abort(new Error('stop'));
  await assert.rejects(running, { message: 'stop' });
});

test('it sees nothing of the environment', async () => {
  assert.deepEqual((await run('parentPort.postMessage(Object.keys(process.env).length);')).said, [0]);
});
