import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`../bench/${name}`, import.meta.url));

test('the benchmark runs and gives every part beside its baseline', async () => {
  const { stdout } = await run(process.execPath, [script('run.ts'), '--quick', '--json']);
  const result = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  for (const part of ['latency', 'start', 'memory', 'context']) assert.ok(part in result, part);
});
