import assert from 'node:assert/strict';
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../core/errors.ts';
import { prepareHome, resolveHome } from './home.ts';
import { temporaryHome } from './sample-config.ts';

test('the home is HERMES_HOME, or .hermes in the own folder', () => {
  assert.equal(resolveHome({ HERMES_HOME: '/srv/hermes', HOME: '/home/me' }), '/srv/hermes');
  assert.equal(resolveHome({ HERMES_HOME: '~/h', HOME: '/home/me' }), '/home/me/h');
  assert.equal(resolveHome({ HERMES_HOME: ' ', HOME: '/home/me' }), '/home/me/.hermes');
  assert.equal(resolveHome({}), join(homedir(), '.hermes'));
});

test('a home that does not exist is made for the owner alone', async () => {
  await using parent = await temporaryHome();
  const home = join(parent.path, 'deep', 'home');
  await prepareHome(home);
  await prepareHome(home);
  assert.equal((await stat(home)).mode & 0o777, 0o700);
});

test('a home that others can look into is closed; one behind a link is left to its owner, and no gateway runs in it', { skip: process.platform === 'win32' && 'modes are those of Unix' }, async () => {
  await using parent = await temporaryHome();
  const [open, link] = [join(parent.path, 'open'), join(parent.path, 'link')];
  const mode = async (): Promise<number> => (await stat(open)).mode & 0o777;
  await mkdir(open);
  await chmod(open, 0o755);
  await symlink(open, link);
  await prepareHome(link);
  await assert.rejects(prepareHome(link, { refuseOpen: true }), (error: unknown) => error instanceof ConfigError && error.message.includes(`chmod 700 ${open}`));
  assert.equal(await mode(), 0o755);
  await prepareHome(open, { refuseOpen: true });
  assert.equal(await mode(), 0o700);
  await prepareHome(link, { refuseOpen: true });
});

test('files with secrets that an editor has left open are closed, and links are left alone', { skip: process.platform === 'win32' && 'modes are those of Unix' }, async () => {
  await using parent = await temporaryHome();
  const home = join(parent.path, 'home');
  const elsewhere = join(parent.path, 'elsewhere');
  await prepareHome(home);
  for (const path of [join(home, 'config.yaml'), elsewhere]) await writeFile(path, 'x', { mode: 0o644 });
  await chmod(join(home, 'config.yaml'), 0o644);
  await chmod(elsewhere, 0o644);
  await symlink(elsewhere, join(home, '.env'));
  await prepareHome(home);
  assert.deepEqual(await Promise.all([join(home, 'config.yaml'), elsewhere].map(async (path) => (await stat(path)).mode & 0o777)), [0o600, 0o644]);
});

test('a home that cannot be used is one clear sentence and exit code 78', async () => {
  await using parent = await temporaryHome();
  const file = join(parent.path, 'file');
  await writeFile(file, '');
  const isClear = (error: unknown): boolean => error instanceof ConfigError && error.exitCode === 78 && /HERMES_HOME/.test(error.message) && !error.message.includes('\n');
  await assert.rejects(prepareHome(file), isClear);
  await assert.rejects(prepareHome(join(file, 'below')), isClear);
});

test('a home in a place that takes no folders is refused, not tried for ever', { skip: process.platform === 'linux' ? false : 'there is no /proc' }, () => assert.rejects(prepareHome('/proc/nowhere/home'), /cannot be used \(ENOENT\)/));

test('a home that cannot be written is refused', { skip: process.getuid?.() === 0 ? 'root may write everywhere' : false }, async () => {
  await using parent = await temporaryHome();
  await chmod(parent.path, 0o500);
  try {
    await assert.rejects(prepareHome(parent.path), /cannot be written/);
    await assert.rejects(prepareHome(join(parent.path, 'below')), /cannot be written/);
  } finally {
    await chmod(parent.path, 0o700);
  }
});
