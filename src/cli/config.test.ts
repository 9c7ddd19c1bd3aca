import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { samplePlatforms, sampleSections, temporaryHome } from '../config/sample-config.ts';
import type { TemporaryHome } from '../config/sample-config.ts';
import { ConfigError } from '../core/errors.ts';
import { configCommand } from './config.ts';

interface Ran {
  readonly out: string;
  readonly err: string;
  /** What the program would say and leave with. */
  readonly failure: ConfigError | undefined;
}

const run = async (home: TemporaryHome, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> => {
  let out = '';
  let err = '';
  const deps = { sections: sampleSections, platforms: samplePlatforms, env: { HERMES_HOME: home.path, ...env }, write: (text: string) => void (out += text), writeError: (text: string) => void (err += text) };
  const program = new Command('hermes').exitOverride().addCommand(configCommand(deps));
  try {
    await program.parseAsync(['config', ...args], { from: 'user' });
    return { out, err, failure: undefined };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { out, err, failure: error };
  }
};

const broken = 'model: { provider: demo }\nhttp:\n  port: 1\nplatforms:\n  telegram:\n    token: "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ"\n    alowed_users: [1]\n';

test('check prints each problem on a line of its own and leaves with 78', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', broken);
  const { out, failure } = await run(home, ['check']);
  assert.equal(out.split('\n')[0], 'config.yaml:7:5  platforms.telegram.alowed_users  unknown key; did you mean allowed_users?');
  assert.match(out, /will not run: telegram\. Everything else will/);
  assert.equal(failure?.exitCode, 78);
  assert.match(failure?.message ?? '', /has 1 problem\./);
});

test('check is content with warnings, and says them', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'terminal: {}\nplatforms: { telegram: { token: written-here } }\n');
  await chmod(join(home.path, 'config.yaml'), 0o644);
  await chmod(home.path, 0o755);
  const { out, failure } = await run(home, ['check']);
  assert.equal(failure, undefined);
  assert.match(out, /accepted but not used here: terminal {2}\(warning\)/);
  assert.match(out, /chmod 600 config\.yaml/);
  assert.match(out, /The configuration is fine\. Accounts: telegram, web\./);
});

test('check --json is for machines', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', broken);
  const { out, failure } = await run(home, ['check', '--json']);
  const report = JSON.parse(out) as { ok: boolean; usable: boolean; disabled: string[]; problems: unknown[] };
  assert.deepEqual([report.ok, report.usable, report.disabled], [false, true, ['telegram']]);
  assert.deepEqual(report.problems, [{ code: 'unknown_key', file: 'config.yaml', line: 7, column: 5, path: 'platforms.telegram.alowed_users', message: 'unknown key', suggestion: 'allowed_users' }]);
  assert.equal(failure?.exitCode, 78);
});

test('show prints every value in force with its source, secrets masked', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', broken.replace('alowed', 'allowed'));
  await home.write('.env', 'MODEL_API_KEY=super-secret-key-1\n');
  const { out } = await run(home, ['show'], { HERMES_HTTP_HOST: '127.0.0.2' });
  for (const line of ['  provider: demo # config.yaml:1', '  api_key: "***" # .env:1 MODEL_API_KEY', '  host: 127.0.0.2 # env HERMES_HTTP_HOST', '  port: 1 # config.yaml:3', '  trusted: false # default', '    token: 1234…WXYZ # config.yaml:6', '    allowed_users: ["1"] # config.yaml:7', 'default_agent: main # default']) {
    assert.ok(out.split('\n').includes(line), `${line}\n---\n${out}`);
  }
  const json = JSON.parse((await run(home, ['show', '--json'])).out) as { values: { http: { port: number } }; sources: Record<string, string> };
  assert.equal(json.values.http.port, 1);
  assert.equal(json.sources['http.port'], 'config.yaml:3');
});

test('show names accounts that will not run, and fails when nothing is in force', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', broken);
  assert.match((await run(home, ['show'])).out, /# telegram will not run: config\.yaml:7:5 /);
  await home.write('config.yaml', 'htpp: {}\n');
  const { out, err, failure } = await run(home, ['show']);
  assert.deepEqual([out, failure?.exitCode], ['', 78]);
  assert.match(err, /^config\.yaml:1:1 {2}htpp/);
});

test('path prints where the files are', async () => {
  await using home = await temporaryHome();
  assert.equal((await run(home, ['path'])).out, `${home.path}/config.yaml\n${home.path}/.env\n`);
  assert.deepEqual(JSON.parse((await run(home, ['path', '--json'])).out), { home: home.path, config: `${home.path}/config.yaml`, env: `${home.path}/.env` });
});

test('set changes a setting, keeps comments and says where', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', '# mine\nhttp:\n  port: 1 # one\n');
  assert.equal((await run(home, ['set', 'http.port', '2'])).out, 'http.port is changed in config.yaml.\n');
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), '# mine\nhttp:\n  port: 2 # one\n');
  assert.equal((await run(home, ['set', 'http.port', '2'])).out, 'http.port is like that already.\n');
  await run(home, ['set', '--unset', 'http.port']);
  assert.equal(await readFile(join(home.path, 'config.yaml'), 'utf8'), '# mine\n');
});

test('set keeps a list a list, says what is gone from it, and adds to a bare value', async () => {
  await using home = await temporaryHome();
  const written = (): Promise<string> => readFile(join(home.path, 'config.yaml'), 'utf8');
  const path = 'platforms.telegram.allowed_users';
  const set = async (at: string, value: string): Promise<string> => (await run(home, ['set', at, value], { TELEGRAM_BOT_TOKEN: '123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ' })).out;
  await home.write('config.yaml', 'platforms:\n  telegram:\n    allowed_users: ["4711"]\n');
  assert.equal(await set(path, '42'), `${path} is changed in config.yaml.\nNo longer in it: 4711. One more is added with: hermes config set ${path}.- VALUE\n`);
  assert.match(await written(), /allowed_users: \[ ?42 ?\]/);
  assert.equal(await set(`${path}.-`, '43'), `${path}.- is changed in config.yaml.\n`);
  assert.match(await written(), /allowed_users: \[ ?42, "?43"? ?\]/);
  for (const [bare, now] of [['42', '- 42\\s*- "43"'], ['"41, 42"', '- "41"\\s*- "42"\\s*- "43"']] as const) {
    await home.write('config.yaml', `platforms:\n  telegram:\n    allowed_users: ${bare}\n`);
    assert.equal(await set(`${path}.-`, '43'), `${path}.- is changed in config.yaml.\n`);
    assert.match(await written(), new RegExp(`allowed_users:\\s*${now}`));
  }
});

test('set takes ids that start with a minus', async () => {
  await using home = await temporaryHome();
  await run(home, ['set', 'platforms.telegram.home_channel', '-1001234567890'], { TELEGRAM_BOT_TOKEN: 'x' });
  assert.match(await readFile(join(home.path, 'config.yaml'), 'utf8'), /home_channel: "?-1001234567890/);
});

test('set puts a secret into .env, says so, and never repeats it', async () => {
  await using home = await temporaryHome();
  const secret = '123456:THE-SECRET-ITSELF';
  const { out, err } = await run(home, ['set', 'platforms.telegram.token', secret]);
  assert.equal(out, 'platforms.telegram.token is a secret: it is kept as TELEGRAM_BOT_TOKEN in .env.\n');
  assert.equal(err, '');
  assert.equal(await readFile(join(home.path, '.env'), 'utf8'), `TELEGRAM_BOT_TOKEN=${secret}\n`);
  assert.equal((await run(home, ['set', '--unset', 'platforms.telegram.token'])).out, 'platforms.telegram.token is removed from .env.\n');
});

test('set refuses what would be wrong, and says what is still needed', async () => {
  await using home = await temporaryHome();
  const wrong = await run(home, ['set', 'http.port', 'many']);
  assert.deepEqual([wrong.out, wrong.err, wrong.failure?.message, wrong.failure?.exitCode], ['', 'http.port  must be a number, not text\n', 'Nothing was changed.', 78]);
  assert.match((await run(home, ['set', 'platforms.telegram.enabled', 'true'])).out, /Still needed: platforms\.telegram\.token {2}is required/);
  assert.match((await run(home, ['set', 'http.port'])).failure?.message ?? '', /Give a value/);
  assert.match((await run(home, ['set', 'http.port', '1', '--unset'])).failure?.message ?? '', /not both/);
});

test('every subcommand explains itself with examples', async () => {
  await using home = await temporaryHome();
  const command = configCommand({ sections: sampleSections, platforms: samplePlatforms, env: { HERMES_HOME: home.path }, write: () => undefined, writeError: () => undefined });
  assert.deepEqual(command.commands.map((sub) => sub.name()), ['check', 'show', 'path', 'set', 'migrate']);
  for (const sub of command.commands) {
    let help = '';
    sub.configureOutput({ writeOut: (text) => void (help += text) });
    sub.outputHelp();
    assert.match(help, new RegExp(`Examples:\\n {2}\\$ hermes config ${sub.name()}`));
  }
});
