import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { takeNamedLock } from './named-lock.ts';

const newFolder = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-named-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};

const take = (folder: string, home: string) => takeNamedLock(folder, 'telegram-1', { home });

test('who wants what another has is told who that is, and gets it afterwards', (t) => {
  const folder = newFolder(t);
  const first = take(folder, '/home/a');
  assert.deepEqual(take(folder, '/home/b'), { type: 'taken', by: { home: '/home/a', pid: process.pid } });
  assert.ok(first.type === 'held');
  first.release();
  const second = take(folder, '/home/b');
  assert.ok(second.type === 'held');
  second.release();
});

test('a full disk keeps nobody from what is free, and nobody keeps it for longer than wanted', { skip: !existsSync('/dev/full') && 'there is no /dev/full' }, (t) => {
  const folder = newFolder(t);
  symlinkSync('/dev/full', join(folder, 'telegram-1.json'));
  const first = take(folder, '/home/a');
  assert.ok(first.type === 'held');
  assert.deepEqual(take(folder, '/home/b'), { type: 'taken', by: {} });
  first.release();
  const second = take(folder, '/home/b');
  assert.ok(second.type === 'held');
  second.release();
});
