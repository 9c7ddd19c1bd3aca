import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Verdict } from '../bench/chaos/verdict.ts';

const script = fileURLToPath(new URL('../bench/chaos.ts', import.meta.url));

const run = promisify(execFile);

const chaos = async (...args: readonly string[]): Promise<string> => (await run(process.execPath, [script, ...args])).stdout;

/** Also when it found something: what it found is in the output. */
const chaosResult = async (...args: readonly string[]): Promise<Result> => {
  const stdout = await chaos(...args, '--json').catch((error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => {
    assert.equal(error.code, 1, error.stderr);
    return error.stdout;
  });
  return JSON.parse(stdout) as Result;
};

interface Result extends Verdict {
  readonly seed: string;
  readonly kills: number;
}

test('a gateway that is killed at random moments loses, doubles, misplaces and reorders nothing', { timeout: 600_000 }, async () => {
  const result = await chaosResult('--rounds', '4', '--chats', '6');
  assert.deepEqual(result.violations, [], `seed ${result.seed}`);
  assert.ok(result.counts.messages > 0);
  assert.ok(result.kills >= 4);
});

test('help has examples, and a number of rounds that is none is refused', async () => {
  assert.match(await chaos('--help'), /Examples:\n +npm run chaos/);
  await assert.rejects(chaos('--rounds', 'many'), /must be a whole number above zero/);
});
