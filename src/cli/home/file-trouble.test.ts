import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { SqliteStore } from '../../store/engines/sqlite.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import { fileTrouble } from './file-trouble.ts';

const errno = (code: string, facts: object): Error => Object.assign(new Error(`${code}: something`), { code, syscall: 'open', ...facts });

test('what somebody can mend about a file is said with its path and reason; a home that cannot be used is 78, everything else 1', () => {
  const told = (code: string, path?: string) => fileTrouble(errno(code, path === undefined ? {} : { path }), '/h');
  assert.deepEqual(told('EACCES', '/h/backups'), { sentence: '/h/backups: this user may not do that. Check the owner and the permissions (EACCES, open).', exitCode: 78 });
  assert.deepEqual(['EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOSPC', 'EDQUOT'].map((code) => told(code, '/h/logs')?.exitCode), [78, 78, 78, 78, 1, 1]);
  assert.equal(told('EACCES', '/hx/file')?.exitCode, 1);
  assert.match(told('ENOSPC')?.sentence ?? '', /^A file could not be written: the disk is full/);
  assert.equal(told('ENOENT', '/h/x'), undefined);
  assert.equal(fileTrouble(new TypeError('x'), '/h'), undefined);
  assert.equal(fileTrouble(Object.assign(new Error('x'), { code: 'EACCES' }), '/h'), undefined);
});

const newHome = async (t: TestContext): Promise<{ readonly folder: string; readonly home: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-trouble-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  await mkdir(home);
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock: systemClock, checkIntegrity: false });
  await store.write((tx) => createSession(tx, { id: 's', agent: 'main', account: 'telegram', chatType: 'dm' }));
  await store.close();
  return { folder, home };
};

const hermes = async (home: string, ...args: readonly string[]): Promise<readonly [number, string]> => {
  const bin = fileURLToPath(new URL('../../../bin/hermes.js', import.meta.url));
  const { HERMES_HOME: _home, ...env } = process.env;
  const failed = await promisify(execFile)(process.execPath, [bin, ...args], { env: { ...env, HERMES_HOME: home } }).then(() => undefined, (error: { code: number; stderr: string }) => error);
  return [failed?.code ?? 0, failed?.stderr ?? ''];
};

test('a command that meets such a file ends with one sentence and no stack', async (t) => {
  const { folder, home } = await newHome(t);
  await writeFile(join(folder, 'file'), '');
  await writeFile(join(home, 'backups'), '');
  const [outside, sentence] = await hermes(home, 'backup', join(folder, 'file', 'x.tar.gz'));
  assert.deepEqual([outside, sentence], [1, `${join(folder, 'file')}: a file stands where a folder should be (EEXIST, mkdir).\n`]);
  assert.deepEqual(await hermes(home, 'backup'), [78, `${join(home, 'backups')}: a file stands where a folder should be (EEXIST, mkdir).\n`]);
});

test('a disk that is full is said to be so, with the file', { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' }, async (t) => {
  const { folder, home } = await newHome(t);
  const path = join(folder, 'all.md');
  await symlink('/dev/full', path);
  assert.deepEqual(await hermes(home, 'export', '--to', path, '--force'), [1, `${path}: the disk is full. Make room and try again (ENOSPC, write).\n`]);
});
