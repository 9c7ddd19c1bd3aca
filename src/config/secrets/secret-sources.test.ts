import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { newRedactor } from '../../lib/redact.ts';
import { loadAlone, loadConfig } from '../load-config.ts';
import { keepLastGood, readLastGood } from '../upkeep/last-good.ts';
import { formatProblem } from '../problem.ts';
import { runSecretCommand } from './run-secret-command.ts';
import { complaints, samplePlatforms, sampleSections, temporaryHome } from '../sample-config.ts';
import type { TemporaryHome } from '../sample-config.ts';
import { newSecretCommands } from './secret-commands.ts';
import { defineSection } from '../section.ts';
import { setSetting } from '../settings/set-setting.ts';

const node = JSON.stringify(process.execPath);
/** A command that prints something on any machine. */
const prints = (text: string): string => `${node} -p '${JSON.stringify(text)}'`;

const optionsOf = (home: TemporaryHome, env: Readonly<Record<string, string>> = {}) => ({ home: home.path, env, sections: sampleSections, platforms: samplePlatforms });

const load = async (home: TemporaryHome, env: Readonly<Record<string, string>> = {}) => {
  const config = await loadConfig(optionsOf(home, env));
  if (!config.ok) assert.fail(config.problems.map(formatProblem).join('\n'));
  return config;
};

const tokenOf = (config: Awaited<ReturnType<typeof load>>, account = 'telegram'): unknown => z.object({ token: z.string() }).safeParse(config.accounts.find((one) => one.account === account)?.options).data?.token;

test('a secret is read from a file, relative to the home, without its last line break', async () => {
  await using home = await temporaryHome();
  await mkdir(join(home.path, 'secrets'));
  await home.write('secrets/model', 'sk-model-from-file\n');
  await home.write('token', '111:from-file\r\n');
  await home.write('work', '  222:spaces stay  \n\n');
  await home.write('config.yaml', `model: { api_key_file: secrets/model }\nplatforms: { telegram: { token_file: ~/token, accounts: { work: { extra: { token_file: ${join(home.path, 'work')} } } } } }\n`);
  const config = await load(home, { HOME: home.path });
  assert.equal(config.sections.model.api_key, 'sk-model-from-file');
  assert.equal(tokenOf(config), '111:from-file');
  assert.equal(tokenOf(config, 'telegram@work'), '  222:spaces stay  \n');
  assert.deepEqual(config.secretFiles.toSorted(), [join(home.path, 'secrets/model'), join(home.path, 'token'), join(home.path, 'work')].toSorted());
});

test('a secret is what a command prints, with or without a shell', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', `model: { api_key_cmd: ${JSON.stringify(prints('printed-secret-1'))}, fallback_keys_cmd: ${JSON.stringify(`${prints('a-key')} && ${prints('b-key')}`)} }\n`);
  const { model } = (await load(home)).sections;
  assert.equal(model.api_key, 'printed-secret-1');
  assert.deepEqual(model.fallback_keys, ['a-key', 'b-key']);
});

test('every variable of a secret has a sibling that names a file or a command, and a reference finds it too', async () => {
  await using home = await temporaryHome();
  await home.write('token', '333:by-variable\n');
  await home.write('own', 'my-own-secret\n');
  await home.write('.env', `TELEGRAM_BOT_TOKEN_FILE=token\nMODEL_API_KEY_CMD=${JSON.stringify(prints('by-command-1'))}\nMY_OWN_KEY_FILE=own\n`);
  await home.write('config.yaml', 'agents: { main: { model: a, key: "Bearer ${MY_OWN_KEY}" } }\n');
  const config = await load(home);
  assert.equal(tokenOf(config), '333:by-variable');
  assert.equal(config.sections.model.api_key, 'by-command-1');
  assert.equal(config.sections.agents['main']?.key, 'Bearer my-own-secret');
  assert.equal(config.variable('MY_OWN_KEY'), 'my-own-secret');
});

test('a variable beats the file, which is then not asked at all', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'platforms: { telegram: { token_cmd: touch ran } }\n');
  assert.equal(tokenOf(await load(home, { TELEGRAM_BOT_TOKEN: '444:environment' })), '444:environment');
  await assert.rejects(readFile(join(home.path, 'ran')));
});

test('two sources for one value are refused, and both are named', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: { api_key: written-down, api_key_file: x }\nplatforms: { telegram: { token_file: a, token_cmd: b } }\n');
  assert.deepEqual(complaints(await loadConfig(optionsOf(home))), [
    'config.yaml:1:33  model.api_key  api_key and api_key_file are both given; keep one',
    'config.yaml:2:26  platforms.telegram.token  token_file and token_cmd are both given; keep one',
  ]);
  await home.write('config.yaml', '');
  await home.write('.env', 'TELEGRAM_BOT_TOKEN=555:x\n');
  assert.deepEqual(complaints(await loadConfig(optionsOf(home, { TELEGRAM_BOT_TOKEN_FILE: '/nowhere' }))), ['environment  platforms.telegram.token (TELEGRAM_BOT_TOKEN_FILE)  TELEGRAM_BOT_TOKEN and TELEGRAM_BOT_TOKEN_FILE are both set; keep one']);
});

test('a source that fails disables its account only, in words that name the source and nothing it printed', async () => {
  await using home = await temporaryHome();
  await home.write('empty', '\n');
  await home.write('fails', 'process.stdout.write("half-a-secret"); console.error("half-a-secret"); process.exitCode = 3;');
  const script = JSON.stringify(`${node} ${join(home.path, 'fails')}`);
  await home.write('config.yaml', `platforms:\n  telegram: { token_file: gone, accounts: { a: { token_file: empty }, b: { token_cmd: no-such-program-here x }, c: { token_cmd: ${script} }, d: { token_file: 7 } } }\n  web: {}\n`);
  const config = await load(home);
  assert.deepEqual(config.accounts.map(({ account }) => account), ['web']);
  const said = complaints(config);
  assert.deepEqual(
    said.map((line) => line.split('  ').at(-1)),
    [
      `the file ${join(home.path, 'gone')} does not exist`,
      `the file ${join(home.path, 'empty')} gives nothing`,
      'the command no-such-program-here is not installed, or not in PATH',
      `the command ${process.execPath.split('/').at(-1)} ended with code 3; run it by hand to see why`,
      'token_file must be the path of a file',
    ],
  );
  assert.doesNotMatch(JSON.stringify([said, config.settings]), /half-a-secret/);
});

test('a misspelt source is suggested, and what is no secret has none', async () => {
  await using home = await temporaryHome();
  await home.write('config.yaml', 'model: { api_kye_file: x, base_url_file: y }\n');
  assert.deepEqual(complaints(await loadConfig(optionsOf(home))), ['config.yaml:1:10  model.api_kye_file  unknown key; did you mean api_key_file?', 'config.yaml:1:27  model.base_url_file  unknown key']);
});

test('what is shown is the source and a mask, and the redactor knows the value', async () => {
  await using home = await temporaryHome();
  await home.write('token', '666:a-token-that-nobody-may-see\n');
  await home.write('config.yaml', `model: { api_key_cmd: ${JSON.stringify(prints('printed-and-never-shown'))} }\nplatforms: { telegram: { token_file: token } }\n`);
  const redactor = newRedactor();
  const config = await loadConfig({ ...optionsOf(home), redactor });
  assert.ok(config.ok);
  const sources = new Map(config.settings.map(({ path, source, value }) => [path.join('.'), [value, source]]));
  assert.deepEqual(sources.get('platforms.telegram.token'), ['666:…-see', `file ${join(home.path, 'token')} (config.yaml:2)`]);
  assert.deepEqual(sources.get('model.api_key'), ['***', 'command (config.yaml:1)']);
  assert.equal(redactor.redact('printed-and-never-shown, 666:a-token-that-nobody-may-see'), '***, ***');
});

test('a file that others can read is a warning', { skip: process.platform === 'win32' }, async () => {
  await using home = await temporaryHome();
  await home.write('token', '777:seen\n');
  await home.write('config.yaml', 'platforms: { telegram: { token_file: token } }\n');
  assert.deepEqual((await load(home)).warnings, []);
  await chmod(join(home.path, 'token'), 0o644);
  assert.deepEqual((await load(home)).warnings, [], 'nobody else comes into the folder');
  await chmod(home.path, 0o755);
  const path = join(home.path, 'token');
  assert.deepEqual((await load(home)).warnings.map(formatProblem), [`${path}  holds a secret and can be read by other users of this machine; run: chmod 600 ${path}`]);
});

test('a command gets what password managers need and no secret of ours, and has to end in time', async () => {
  const env = { PATH: process.env['PATH'], HOME: '/home/ada', SSH_AUTH_SOCK: '/agent', OP_SESSION_ada: 'unlocked', TELEGRAM_BOT_TOKEN: 'planted', NODE_OPTIONS: '' };
  const seen = await runSecretCommand(`${node} -p "JSON.stringify(process.env)"`, { cwd: undefined, env });
  assert.ok(seen.ok);
  const variables = JSON.parse(seen.value) as Readonly<Record<string, string>>;
  assert.equal(variables['SSH_AUTH_SOCK'], '/agent');
  assert.equal(variables['OP_SESSION_ada'], 'unlocked');
  assert.equal(variables['TELEGRAM_BOT_TOKEN'], undefined);
  assert.equal(variables['NODE_OPTIONS'], undefined);
  const endless = await runSecretCommand(`${node} -e "setInterval(() => 0, 1000)"`, { cwd: undefined, env, timeoutMs: 50 });
  assert.match(endless.ok ? '' : endless.message, /did not answer within 0.05 s$/);
  const flood = await runSecretCommand(`${node} -e "for (;;) process.stdout.write('x'.repeat(9999))"`, { cwd: undefined, env });
  assert.match(flood.ok ? '' : flood.message, /printed more than 64 KiB/);
});

test('a setting can be changed to a source, and a configuration with sources is kept as the last good one', async () => {
  await using home = await temporaryHome();
  await home.write('key', 'a-key-for-the-model\n');
  assert.ok((await setSetting({ ...optionsOf(home), path: 'model.api_key_file', value: 'key' })).ok);
  assert.equal((await load(home)).sections.model.api_key, 'a-key-for-the-model');
  const refused = await setSetting({ ...optionsOf(home), path: 'agents.main.key_file', value: 'gone' });
  assert.equal(refused.ok, false);
  await keepLastGood(optionsOf(home));
  assert.equal((await readLastGood(optionsOf(home)))?.config.sections.model.api_key, 'a-key-for-the-model');
});

test('a source inside one of several forms says what is wrong with it', async () => {
  await using home = await temporaryHome();
  const sections = [defineSection('place', z.union([z.string(), z.object({ url: z.string(), password: z.string().meta({ secret: true }).optional() })]).optional(), 'live')] as const;
  await home.write('password', 'open-sesame\n');
  await home.write('config.yaml', 'place: { url: a, password_file: password }\n');
  const config = await loadConfig({ ...optionsOf(home), sections });
  assert.deepEqual(config.ok && config.sections.place, { url: 'a', password: 'open-sesame' });
  await home.write('config.yaml', 'place: { url: a, password_file: gone }\n');
  assert.deepEqual(complaints(await loadConfig({ ...optionsOf(home), sections })).map((line) => line.split('  ').at(-1)), [`the file ${join(home.path, 'gone')} does not exist`]);
});

test('a command is found although there is no home yet', async () => {
  await using home = await temporaryHome();
  const config = await loadConfig({ ...optionsOf(home, { MODEL_API_KEY_CMD: prints('before-the-home') }), home: join(home.path, 'not-yet') });
  assert.equal(config.ok && config.sections.model.api_key, 'before-the-home');
});

test('commands that are handed on are asked once for each home', async () => {
  await using home = await temporaryHome();
  await using other = await temporaryHome();
  const commands = newSecretCommands();
  for (const at of [home, other]) {
    await at.write('ask.mjs', `import { appendFileSync } from 'node:fs';\nappendFileSync('asked', 'x');\nconsole.log(process.cwd());\n`);
    await at.write('config.yaml', `model: { api_key_cmd: ${JSON.stringify(`${node} ask.mjs`)} }\n`);
  }
  for (const at of [home, other, home, other]) {
    const config = await loadConfig({ ...optionsOf(at), commands });
    assert.equal(config.ok && config.sections.model.api_key, await realpath(at.path));
  }
  for (const at of [home, other]) assert.equal(await readFile(join(at.path, 'asked'), 'utf8'), 'x');
  await loadConfig(optionsOf(home));
  assert.equal(await readFile(join(home.path, 'asked'), 'utf8'), 'xx', 'another start asks anew');
});

test('what needs no secret from elsewhere can be read without asking for any', async () => {
  await using home = await temporaryHome();
  const alone = (env: Readonly<Record<string, string>> = {}) => loadAlone(optionsOf(home, env));
  const source = 'model: { api_key_cmd: touch ran }\n';
  await home.write('config.yaml', `${source}http: { port: 1 }\nplatforms: { telegram: { token_cmd: touch ran } }\n`);
  assert.equal((await alone()).http?.port, 1);
  assert.equal((await alone()).model, undefined);
  await home.write('config.yaml', `${source}http: { port: "\${MY_KEY:-2}" }\n`);
  assert.equal((await alone()).http?.port, 2);
  assert.equal((await alone({ MY_KEY_CMD: 'touch ran' })).http, undefined, 'a default is none where a command would say more');
  await home.write('config.yaml', `${source}http: { port: wrong }\nagents: {}\n`);
  assert.deepEqual(await alone(), {}, 'files that cannot be used are for whoever can explain it');
  await home.write('config.yaml', `${source}htpt: {}\n`);
  assert.deepEqual(await alone(), {});
  await assert.rejects(readFile(join(home.path, 'ran')));
});
