import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Report } from '../bench/report.ts';

const script = fileURLToPath(new URL('../bench/run.ts', import.meta.url));

const bench = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)(process.execPath, [script, ...args])).stdout;

const areNumbers = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'number' && Number.isFinite(value) && value > 0);

test('the benchmarks measure everything, each number beside its baseline', { timeout: 600_000 }, async () => {
  const report = JSON.parse(await bench('--quick', '--json')) as Report;
  assert.deepEqual(report.latency?.map(({ chats }) => chats), [1, 10]);
  for (const { gateway, bare, ratio } of report.latency ?? []) {
    for (const speed of [gateway, bare, ratio]) assert.ok(areNumbers(speed.perSecond, speed.p50Ms, speed.p99Ms), JSON.stringify(speed));
  }
  assert.deepEqual(report.start?.map(({ by }) => by).slice(0, 2), ['bare node', 'launcher']);
  for (const { medianMs, ratio } of report.start ?? []) assert.ok(areNumbers(medianMs, ratio));
  if (process.platform === 'linux') assert.deepEqual(report.memory?.map(({ messages }) => messages), [0, 20, 40]);
  for (const { busyBytes, restingBytes, ratio } of report.memory ?? []) assert.ok(areNumbers(busyBytes, restingBytes, ratio));
  if (process.platform === 'linux') assert.ok((report.idle?.percent ?? -1) >= 0);
  assert.deepEqual(report.context?.map(({ messages }) => messages), [100, 3000]);
  for (const { loadMs, ratio } of report.context ?? []) assert.ok(areNumbers(loadMs, ratio));
  assert.deepEqual(report.api?.map(({ connections, streamed }) => [connections, streamed]), [[1, false], [1, true], [4, false], [4, true]]);
  for (const { gateway, proxy, ratio } of report.api ?? []) {
    for (const speed of [gateway, proxy, ratio]) assert.ok(areNumbers(speed.perSecond, speed.p50Ms, speed.p99Ms), JSON.stringify(speed));
  }
});

test('one part can be measured alone, and is printed for people', async () => {
  const printed = await bench('--quick', '--only', 'context');
  assert.match(printed, /100 messages +[\d.]+ ms +1\.00x/);
  assert.doesNotMatch(printed, /Start until/);
});

test('help has examples, and a part that does not exist is refused', async () => {
  assert.match(await bench('--help'), /Examples:\n +npm run bench/);
  await assert.rejects(bench('--only', 'everything'), /Allowed choices are latency, start, memory, idle, context, api/);
});
