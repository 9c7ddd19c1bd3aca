import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Verdict } from '../bench/chaos/verdict.ts';
import { flatnessOf, growthOf } from '../bench/soak/samples.ts';

const script = fileURLToPath(new URL('../bench/soak.ts', import.meta.url));

const soak = promisify(execFile);

interface Result extends Verdict {
  readonly seed: string;
  readonly done: readonly string[];
}

test('a gateway lives through traffic and every kind of restart without losing or doubling anything', { timeout: 600_000, skip: process.platform === 'win32' && 'a process cannot take its own place there' }, async () => {
  const { stdout } = await soak(process.execPath, [script, '--quick', '--json']).catch((error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => {
    assert.equal(error.code, 1, error.stderr);
    return error;
  });
  const result = JSON.parse(stdout) as Result;
  assert.deepEqual(result.violations, [], `seed ${result.seed}`);
  assert.deepEqual(result.done, ['SIGTERM', 'kill -9', '/restart', 'hermes gateway restart', 'run --replace']);
  assert.equal(result.counts.messages + result.counts.commands, 120);
});

test('what grows from the first third to the last is said, what moves a little is not', () => {
  const samples = (bytes: (i: number) => number, files: (i: number) => number) => Array.from({ length: 30 }, (_, i) => ({ residentBytes: bytes(i) * 1024 * 1024, openFiles: files(i) }));
  const growth = (list: ReturnType<typeof samples>): number => growthOf(flatnessOf(list) ?? assert.fail('too little to compare')).length;
  assert.equal(growth(samples((i) => 100 + (i % 7), (i) => 30 + (i % 3))), 0);
  assert.equal(growth(samples((i) => 100 + 5 * i, () => 30)), 1);
  assert.equal(growth(samples((i) => 100 + 5 * i, (i) => 30 + i)), 2);
  assert.equal(flatnessOf([]), undefined);
});
