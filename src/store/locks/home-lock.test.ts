import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { isHomeTaken, lockHome } from './home-lock.ts';
import { homeHolder } from './lock-holder.ts';

const newHome = (t: TestContext): string => {
  const home = mkdtempSync(join(tmpdir(), 'hermes-lock-'));
  t.after(() => rmSync(home, { recursive: true }));
  return home;
};

test('a home has one holder at a time, and only its owner may look at the lock', (t) => {
  const home = newHome(t);
  const lock = lockHome(home);
  assert.ok(lock !== undefined);
  assert.equal(lockHome(home), undefined);
  assert.equal(statSync(join(home, 'gateway.lock')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(home), ['gateway.lock'], 'there is nothing beside it');
  lock.release();
  chmodSync(join(home, 'gateway.lock'), 0o644);
  const again = lockHome(home);
  assert.ok(again !== undefined);
  assert.equal(statSync(join(home, 'gateway.lock')).mode & 0o777, 0o600);
  again.release();
});

test('the lock of another process is respected, and gone when that process is killed', async (t) => {
  const home = newHome(t);
  const script = `
    import { lockHome } from ${JSON.stringify(new URL('./home-lock.ts', import.meta.url).href)};
    globalThis.lock = lockHome(${JSON.stringify(home)});
    process.stdout.write('locked');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.equal(lockHome(home), undefined);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = lockHome(home);
  assert.ok(lock !== undefined);
  lock.release();
});

test('a home that cannot be written is an error, not a holder', () => {
  assert.throws(() => lockHome('/nowhere/at/all'), { name: 'StoreError', code: 'unwritable' });
});

test('who looks whether a home is taken is not taken for its holder by others who look, and sees whoever has it', (t) => {
  const home = newHome(t);
  assert.equal(isHomeTaken(home), false);
  assert.deepEqual(readdirSync(home), [], 'looking makes nothing');
  const lock = lockHome(home);
  assert.equal(isHomeTaken(home), true);
  lock?.release();
  // Another command in the middle of its look.
  using looking = new DatabaseSync(join(home, 'gateway.lock'), { readOnly: true });
  looking.exec('begin');
  looking.prepare('select 1 from sqlite_master').get();
  assert.deepEqual([isHomeTaken(home), homeHolder(home)], [false, undefined]);
});
