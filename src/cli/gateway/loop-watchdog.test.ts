import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

interface Ended {
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
  /** What was written down about where it was stuck. */
  readonly stacks: readonly string[];
}

/** A process of its own whose loop is watched, and in which `spin(ms)` keeps JavaScript busy for so long. */
const run = async (limits: { readonly tellAfterMs: number; readonly endAfterMs: number }, spinMs: number, liveMs = spinMs + 4_000): Promise<Ended> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-watchdog-'));
  try {
    const script = join(folder, 'busy.ts');
    await writeFile(
      script,
      `import { watchLoop } from ${JSON.stringify(new URL('./loop-watchdog.ts', import.meta.url).href)};
      const say = (facts: object, what: string): void => console.log(what);
      const watching = watchLoop(${JSON.stringify(folder)}, { warn: say, error: say } as never, ${JSON.stringify(limits)});
      const spin = (ms: number): void => { for (const endMs = Date.now() + ms; Date.now() < endMs; ); };
      setTimeout(() => spin(${spinMs}), 1500);
      setTimeout(() => watching[Symbol.dispose](), ${liveMs});\n`,
    );
    const ended = await new Promise<Omit<Ended, 'stacks'>>((resolve) => void execFile(process.execPath, [script], { timeout: 60_000 }, (error, out, err) => resolve({ signal: error?.signal ?? null, out, err })));
    const names = (await readdir(folder)).filter((name) => name.startsWith('stuck.'));
    return { ...ended, stacks: await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8'))) };
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('a loop that is stuck is asked where, once, and goes on', { concurrency: true }, async () => {
  const { signal, out, stacks } = await run({ tellAfterMs: 2_000, endAfterMs: 60_000 }, 6_000);
  assert.deepEqual([signal, out], [null, 'loop.blocked\n']);
  assert.equal(stacks.length, 1);
  assert.match(stacks[0] ?? '', /^at spin \(file:.*busy\.ts:4\)\n/);
});

test('a process whose loop does not come back is ended, and says so', { concurrency: true }, async () => {
  const { signal, err, stacks } = await run({ tellAfterMs: 2_000, endAfterMs: 4_000 }, 30_000);
  assert.equal(signal, 'SIGKILL');
  assert.match(err, /^The gateway was stuck for \d+ s and ends itself; .*\n$/);
  assert.match(stacks[0] ?? '', /^at spin /);
});

test('a loop that works is left alone, however long it lives', { concurrency: true }, async () => {
  const { signal, err } = await run({ tellAfterMs: 5_000, endAfterMs: 6_000 }, 10, 9_000);
  assert.deepEqual([signal, err], [null, '']);
});
