import assert from 'node:assert/strict';
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatProblem } from '../problem.ts';
import { samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import { setSetting } from './set-setting.ts';
import type { SetOutcome } from './set-setting.ts';

const set = (home: string, path: string, value: string | undefined, env: Readonly<Record<string, string>> = {}): Promise<SetOutcome> =>
  setSetting({ home, env, sections: sampleSections, platforms: samplePlatforms, path, value });
const refused = (outcome: SetOutcome): readonly string[] => (outcome.ok ? [] : outcome.problems.map(formatProblem));
const read = (home: string, name: string): Promise<string> => readFile(join(home, name), 'utf8');
/** All but the lock, which is empty and stays. */
const filesIn = async (home: string): Promise<readonly string[]> => (await readdir(home)).filter((name) => name !== 'gateway.lock-config');

test('the home and the file are made when missing, for the owner alone', async () => {
  await using parent = await temporaryHome();
  const home = join(parent.path, 'new');
  const outcome = await set(home, 'http.port', '9000');
  assert.deepEqual(outcome, { ok: true, files: ['config.yaml'], variable: undefined, secret: false, overridden: false, missing: [] });
  assert.equal(await read(home, 'config.yaml'), 'http:\n  port: 9000\n');
  assert.equal((await stat(join(home, 'config.yaml'))).mode & 0o777, 0o600);
  assert.deepEqual(await filesIn(home), ['config.yaml'], 'no temporary file is left');
});

test('a result that would be wrong is refused and nothing is written', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: { port: 1 }\n');
  assert.deepEqual(refused(await set(home.path, 'http.port', 'many')), ['http.port  must be a number, not text']);
  assert.deepEqual(refused(await set(home.path, 'http.prot', '1')), ['http.prot  unknown key; did you mean port?']);
  assert.deepEqual(refused(await set(home.path, 'htpp.port', '1')), ['htpp  unknown key; did you mean http?']);
  assert.deepEqual(refused(await set(home.path, 'platforms.telegram.alowed_users', '[1]')), ['platforms.telegram.alowed_users  unknown key; did you mean allowed_users?']);
  assert.match(refused(await set(home.path, 'platforms.telegram.allowed_users', '*'))[0] ?? '', /allow_all_users: true/);
  assert.match(refused(await set(home.path, 'http..port', '1'))[0] ?? '', /is not a path/);
  assert.deepEqual(await filesIn(home.path), ['config.yaml']);
  assert.equal(await read(home.path, 'config.yaml'), 'http: { port: 1 }\n');
});

test('a secret goes to .env under its variable, and only there', async () => {
  await using home = await temporaryHome();
  await home.write('.env', '# mine\nOTHER=1\n');
  const outcome = await set(home.path, 'platforms.telegram.token', "123456:abc'def");
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.files, outcome.variable, outcome.secret], [['.env'], 'TELEGRAM_BOT_TOKEN', true]);
  assert.equal(await read(home.path, '.env'), '# mine\nOTHER=1\nTELEGRAM_BOT_TOKEN="123456:abc\'def"\n');
  assert.deepEqual(await filesIn(home.path), ['.env']);
  const removed = await set(home.path, 'platforms.telegram.token', undefined);
  assert.deepEqual(removed.ok && removed.files, ['.env']);
  assert.equal(await read(home.path, '.env'), '# mine\nOTHER=1\n');
});

test('a secret is known as one wherever it may stand', async () => {
  await using home = await temporaryHome();
  for (const path of ['platforms.telegram.extra.token', 'telegram.token', 'gateway.platforms.telegram.token', 'gateway.model.api_key']) {
    const outcome = await set(home.path, path, `secret-of-${path}`);
    assert.deepEqual(outcome.ok && outcome.files, ['.env'], path);
  }
});

test('a secret without a variable stays in the file, as for a further account', async () => {
  await using home = await temporaryHome();
  const outcome = await set(home.path, 'platforms.telegram.accounts.work.token', '42');
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.files, outcome.variable, outcome.secret], [['config.yaml'], undefined, true]);
  assert.equal(await read(home.path, 'config.yaml'), 'platforms:\n  telegram:\n    accounts:\n      work:\n        token: "42"\n');
});

test('a secret that its schema refuses is not stored, and not repeated', async () => {
  await using home = await temporaryHome();
  assert.deepEqual(refused(await set(home.path, 'model.api_key', 'tiny')), ['model.api_key  must have at least 8 characters']);
  assert.deepEqual(await filesIn(home.path), []);
});

test('an account can be built up step by step, and is told what it still lacks', async () => {
  await using home = await temporaryHome();
  const first = await set(home.path, 'platforms.email.address', 'a@b.example');
  assert.ok(first.ok);
  assert.match(formatProblem(first.missing[0]!), /platforms\.email\.password {2}is required.*EMAIL_PASSWORD/);
  const second = await set(home.path, 'platforms.email.password', 'hunter22');
  assert.deepEqual(second.ok && [second.missing, second.files], [[], ['.env']]);
});

test('mistakes that were there before do not stand in the way of mending them', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: { port: nope, prot: 2 }\n');
  assert.equal((await set(home.path, 'http.prot', undefined)).ok, true);
  assert.equal((await set(home.path, 'http.port', '2')).ok, true);
  assert.equal(await read(home.path, 'config.yaml'), 'http: { port: 2 }\n');
});

test('a file that is not YAML is not touched', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: [\n');
  assert.match(refused(await set(home.path, 'http.port', '2'))[0] ?? '', /^config\.yaml:\d+:\d+ /);
  assert.equal(await read(home.path, 'config.yaml'), 'http: [\n');
});

test('a value that the environment overrides is said to be so', async () => {
  await using home = await temporaryHome();
  const outcome = await set(home.path, 'http.port', '2', { HERMES_HTTP_PORT: '3' });
  assert.equal(outcome.ok && outcome.overridden, true);
});

test('a link stays a link, and a loose mode is tightened', async () => {
  await using home = await temporaryHome();
  await using elsewhere = await temporaryHome();
  const target = join(elsewhere.path, 'dotfile.yaml');
  await writeFile(target, 'http: { port: 1 }\n');
  await chmod(target, 0o644);
  await symlink(target, join(home.path, 'config.yaml'));
  assert.equal((await set(home.path, 'http.port', '2')).ok, true);
  assert.equal((await lstat(join(home.path, 'config.yaml'))).isSymbolicLink(), true);
  assert.equal(await readFile(target, 'utf8'), 'http: { port: 2 }\n');
  assert.equal((await stat(target)).mode & 0o777, 0o600);
});

test('setting what is set already writes nothing', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'http: { port: 2 }\n');
  const outcome = await set(home.path, 'http.port', '2');
  assert.deepEqual(outcome.ok && outcome.files, []);
});

test('a secret that only refers to a variable stands in the file', async () => {
  await using home = await temporaryHome();
  const outcome = await set(home.path, 'model.api_key', '${MY_KEY}', { MY_KEY: 'long-enough' });
  assert.deepEqual(outcome.ok && outcome.files, ['config.yaml']);
  assert.equal(await read(home.path, 'config.yaml'), 'model:\n  api_key: ${MY_KEY}\n');
});
