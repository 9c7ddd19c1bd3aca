import assert from 'node:assert/strict';
import { appendFile, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditObstacle, mergeActs, readActs, recordAct } from './audit-log.ts';
import { takeKernelLock } from './kernel-lock.ts';

test('acts are added in order, for the owner alone, and a line that was cut off hides nothing', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-audit-'));
  try {
    assert.deepEqual(readActs(home), []);
    recordAct(home, { by: 'ada', act: 'access allow', subject: 'telegram 7' }, 0);
    const path = join(home, 'logs', 'audit.log');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await appendFile(path, '{"at":"19');
    recordAct(home, { by: 'telegram:7', act: '/restart' }, 1000);
    assert.deepEqual(readActs(home), [
      { at: '1970-01-01T00:00:00.000Z', by: 'ada', act: 'access allow', subject: 'telegram 7' },
      { at: '1970-01-01T00:00:01.000Z', by: 'telegram:7', act: '/restart' },
    ]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test('acts of two logs become one, each at its time and once', async (t) => {
  const [home, other] = await Promise.all([mkdtemp(join(tmpdir(), 'hermes-audit-')), mkdtemp(join(tmpdir(), 'hermes-audit-'))]);
  t.after(() => Promise.all([home, other].map((folder) => rm(folder, { recursive: true }))));
  const write = (where: string, act: string, atMs: number): void => recordAct(where, { by: 'ada', act }, atMs);
  write(other, 'first', 0);
  write(other, 'second', 1000);
  write(home, 'first', 0);
  write(home, 'third', 2000);
  write(other, 'fourth', 3000);
  await mergeActs(home, join(other, 'logs', 'audit.log'));
  await mergeActs(home, join(other, 'logs', 'no-such.log'));
  assert.deepEqual(readActs(home).map(({ act }) => act), ['first', 'second', 'third', 'fourth']);
  assert.equal((await stat(join(home, 'logs', 'audit.log'))).mode & 0o777, 0o600);
});

test('what would keep an act from being written down is known before', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-audit-'));
  t.after(() => rm(home, { recursive: true }));
  assert.equal(auditObstacle(join(home, 'not-made-yet')), undefined);
  assert.equal(auditObstacle(home), undefined);
  recordAct(home, { by: 'ada', act: 'access allow' }, 0);
  assert.equal(auditObstacle(home), undefined);
  await rm(join(home, 'logs'), { recursive: true });
  await appendFile(join(home, 'logs'), '');
  assert.equal(auditObstacle(home), 'ENOTDIR');
  await rm(join(home, 'logs'));
  await mkdir(join(home, 'logs', 'audit.log'), { recursive: true });
  assert.equal(auditObstacle(home), 'EISDIR');
  assert.throws(() => readActs(home), { code: 'EISDIR', path: join(home, 'logs', 'audit.log') });
});

test('root neither writes to nor gives away what a link leads to that stands in the home of somebody else', { skip: process.getuid?.() !== 0 && 'only root can' }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-audit-'));
  t.after(() => rm(folder, { recursive: true }));
  const [home, roots] = [join(folder, 'home'), join(folder, 'roots')];
  await mkdir(join(home, 'logs'), { recursive: true });
  await Promise.all([writeFile(roots, ''), symlink(roots, join(home, 'logs', 'audit.log')), symlink(roots, join(home, 'gateway.lock')), chown(home, 4711, 4711)]);
  assert.equal(auditObstacle(home), 'ELOOP');
  assert.throws(() => recordAct(home, { by: 'root', act: 'config set' }, 0), { code: 'ELOOP' });
  takeKernelLock(join(home, 'gateway.lock'))?.release();
  const { uid, size, mode } = await stat(roots);
  assert.deepEqual([uid, size, mode & 0o777], [0, 0, 0o644]);
  await chown(home, 0, 0);
  recordAct(home, { by: 'root', act: 'config set' }, 0);
  assert.equal(readActs(home).length, 1, 'in a home of its own it may have a link');
});

test('what root writes down in the home of somebody else is theirs', { skip: process.getuid?.() !== 0 && 'only root can' }, async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-audit-'));
  t.after(() => rm(home, { recursive: true }));
  await chown(home, 4711, 4711);
  recordAct(home, { by: 'root', act: 'gateway install' }, 0);
  for (const made of ['logs', 'logs/audit.log']) assert.equal((await stat(join(home, made))).uid, 4711, made);
});
