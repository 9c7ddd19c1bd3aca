import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { holderOf, startingText } from './process.ts';
import { settledHolder } from './start.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-start-'));
});
afterEach(() => rm(home, { recursive: true }));

const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** Has the home, says that it starts, and runs from the first byte that it is sent. */
const program = `
const { lockHome } = await import(${url('../../store/locks/home-lock.ts')});
const { forgetStarting, noteStarting } = await import(${url('./start-note.ts')});
const { writeFileSync } = await import('node:fs');
const [home] = process.argv.slice(1);
globalThis.lock = lockHome(home);
noteStarting(home, 'Upgrading the database');
process.stdin.once('data', () => {
  writeFileSync(home + '/gateway.pid', process.pid + '\\n');
  forgetStarting(home);
  console.log('runs');
});
console.log('starts');
`;

const startSlowly = async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, home, 'gateway'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    pid: child.pid,
    async run() {
      const runs = once(child.stdout, 'data');
      child.stdin.write('go');
      await runs;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

test('a gateway that has its home and does not run yet is starting, and says what it is busy with; who waits for it gets it when it runs', async () => {
  await using gateway = await startSlowly();
  const first = holderOf(home);
  assert.partialDeepStrictEqual(first, { type: 'gateway', pid: gateway.pid, doing: 'Upgrading the database' });
  assert.match(startingText(first) ?? '', new RegExp(`^starting for \\d+ s, process ${gateway.pid ?? 0} \\(Upgrading the database\\)$`));
  let isSettled = false;
  const settled = settledHolder(home).then((holder) => {
    isSettled = true;
    return holder;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSettled, false);
  await gateway.run();
  const holder = await settled;
  assert.partialDeepStrictEqual(holder, { type: 'gateway', pid: gateway.pid });
  assert.equal(startingText(holder), undefined);
});

test('whoever waits for one that dies before it runs finds the home free', async () => {
  {
    await using _gateway = await startSlowly();
  }
  assert.deepEqual(await settledHolder(home), { type: 'nobody' });
});

test('since when a gateway runs is known from the kernel when its own file is gone', { skip: process.platform !== 'linux' && 'only Linux tells who holds a lock' }, async () => {
  await using gateway = await startSlowly();
  await gateway.run();
  await writeFile(join(home, 'gateway.pid'), '');
  const before = Date.now();
  const holder = holderOf(home);
  assert.ok(holder.type === 'gateway' && holder.pid === gateway.pid && holder.sinceMs < before, JSON.stringify({ holder, before }));
});
