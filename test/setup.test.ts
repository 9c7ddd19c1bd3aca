import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '../src/agent/models/chat-simulator.ts';
import { program } from '../src/cli/program.ts';
import { credentials, fresh, modelKey } from './support/fresh-home.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly failure: Error | undefined;
}

/** The command inside this process. */
const setup = async (world: World, ...args: readonly string[]): Promise<Ran> => {
  let [out, err] = ['', ''];
  let failure: Error | undefined;
  const terminal = { env: world.env, version: 'test', write: (text: string) => void (out += text), writeError: (text: string) => void (err += text) };
  await program(terminal).parseAsync(['node', 'hermes', 'setup', '--non-interactive', ...args]).catch((error: Error) => (failure = error));
  return { out, err, failure };
};

const model = (world: World): readonly string[] => ['--model-provider', 'openai', '--model', 'sim-1', '--base-url', world.model.baseUrl];
const telegram = (world: World): readonly string[] => ['--platform', 'telegram', '--set', `base_url=${world.telegram.baseUrl}`];
const read = (world: World, name: string): Promise<string> => readFile(join(world.home, name), 'utf8');
const filesOf = (world: World): Promise<readonly string[]> => readdir(world.home).catch(() => []);

const assertSecretsUnseen = (world: World, { out, err, failure }: Ran): void => {
  for (const secret of [modelKey, world.telegram.token]) assert.ok(![out, err, failure?.message ?? ''].some((text) => text.includes(secret)), 'a secret was shown');
};

describe('the scripted setup', { concurrency: true }, () => {
  test('makes a home in one command, in which the gateway answers', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    const ran = await setup(world, ...model(world), ...telegram(world), '--allow-user', '7', '--save-env');
    assert.ifError(ran.failure);
    assertSecretsUnseen(world, ran);
    assert.match(ran.out, /sim-1 answers[^]*Telegram knows it as @hermes_test_bot[^]*hermes gateway run[^]*Send to @hermes_test_bot on Telegram:\n\s+Hello!/);
    assert.deepEqual(await Promise.all(['', 'config.yaml', '.env'].map(async (name) => (await stat(join(world.home, name))).mode & 0o777)), [0o700, 0o600, 0o600]);
    assert.match(await read(world, 'config.yaml'), /^# Settings of the Hermes gateway[^]*\nmodel:\n {2}# .+\n {2}provider: openai\n {2}# .+\n {2}default: sim-1\n[^]*\n\nplatforms:\n {2}telegram:\n {4}# .+\n {4}enabled: true\n[^]*# Ids of the people who may talk to the agent\n {4}allowed_users: \[ ?"7" ?\]\n/);
    assert.match(await read(world, '.env'), new RegExp(`# .+\nOPENAI_API_KEY=${modelKey}\n# Bot token from @BotFather\nTELEGRAM_BOT_TOKEN=${world.telegram.token}\n`));
    await using _inside = await startInside({ ...world, env: { HERMES_HOME: world.home } });
    await world.say('hello');
    await until(() => world.shown().includes('re: hello'), 'an answer');
  });

  test('makes a code with which the owner gets in', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    const ran = await setup(world, ...telegram(world), '--invite', '--save-env', '--json');
    const { ok, code, firstMessage } = JSON.parse(ran.out) as { ok: boolean; code: string; firstMessage: { to: string; text: string } };
    assert.deepEqual([ok, firstMessage], [true, { to: '@hermes_test_bot on Telegram', text: code }]);
    await using _inside = await startInside({ ...world, env: { HERMES_HOME: world.home } });
    await world.say(code, { chatId: '99', senderId: '99' });
    await until(() => world.shown('99').some((text) => text.includes('You are in')), 'to be let in');
  });

  test('writes nothing when a credential is refused, and names the fix', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    world.model.next(status(401, { error: { message: `Incorrect API key provided: ${modelKey}` } }));
    const refused = await setup(world, ...model(world), '--save-env');
    assert.match(refused.err, /status 401[^]*hermes setup model[^]*Nothing was written\. --skip-checks/);
    const wrong = fresh(outer, { ...credentials(outer), TELEGRAM_BOT_TOKEN: '123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' });
    const unknown = await setup(wrong, ...telegram(world), '--save-env', '--json');
    const { ok, checks } = JSON.parse(unknown.out) as { ok: boolean; checks: readonly { what: string; outcome: string; fix: string }[] };
    assert.deepEqual([ok, checks[0]?.what, checks[0]?.outcome], [false, 'telegram', 'fails']);
    assert.match(checks[0]?.fix ?? '', /hermes setup platform/);
    for (const ran of [refused, unknown]) {
      assertSecretsUnseen(world, ran);
      assert.match(String(ran.failure), /leaving with 1/);
    }
    assert.deepEqual(await filesOf(world), []);
    assert.equal((await setup(wrong, ...telegram(world), '--save-env', '--skip-checks')).failure, undefined);
    assert.deepEqual((await filesOf(world)).filter((name) => !name.startsWith('gateway.')).toSorted(), ['.env', 'config.yaml', 'logs'], 'and what was done is written down');
  });

  test('leaves what it does not change as it was, and keeps the old file', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    const before = '# mine\nmodel: { provider: deepseek, default: old, api_key: "${OTHER_KEY}" } # for now\n\n# people\nplatforms:\n  telegram:\n    # friends\n    allowed_users: [1, 2] # two\n';
    await mkdir(world.home, { mode: 0o700 });
    await writeFile(join(world.home, 'config.yaml'), before, { mode: 0o600 });
    await writeFile(join(world.home, '.env'), '# keys\nOTHER_KEY=other-key-value\n', { mode: 0o600 });
    const ran = await setup(world, ...model(world), ...telegram(world), '--allow-user', '7', '--allow-user', '2');
    assert.ifError(ran.failure);
    const after = await read(world, 'config.yaml');
    assert.match(after, /^# mine\nmodel: \{.*provider: openai, default: sim-1,.*\} # for now\n\n# people\nplatforms:\n {2}telegram:\n {4}# friends\n {4}allowed_users: \[ ?"?1"?, "?2"?, "?7"? ?\] # two\n/);
    assert.ok(!after.includes('OTHER_KEY'), 'the key of the old model is not used for the new one');
    assert.equal(await read(world, '.env'), '# keys\nOTHER_KEY=other-key-value\n', 'and stays where it was');
    const backup = (await filesOf(world)).find((name) => /^config\.yaml\.\d{8}-\d{6}\.bak$/.test(name));
    assert.equal(await read(world, backup ?? 'no backup'), before);
    const again = await setup(world, ...model(world), ...telegram(world), '--allow-user', '7');
    assert.match(again.out, /Nothing had to be changed\.[^]*with OPENAI_API_KEY and TELEGRAM_BOT_TOKEN in its environment/);
    assert.equal(await read(world, 'config.yaml'), after);
  });

  test('keeps the secret of a further account out of config.yaml, too', async () => {
    await using outer = await newWorld();
    const world = fresh(outer);
    const ran = await setup(world, '--platform', 'telegram@work', '--set', `base_url=${world.telegram.baseUrl}`, '--set', `token=${world.telegram.token}`);
    assert.ifError(ran.failure);
    assert.match(await read(world, 'config.yaml'), /accounts:\n {6}work:\n[^]*token: \$\{TELEGRAM_WORK_TOKEN\}\n/);
    assert.match(await read(world, '.env'), new RegExp(`TELEGRAM_WORK_TOKEN=${world.telegram.token}\n`));
  });

  test('says what is missing, what is misspelt and what cannot be', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, { OPENAI_API_KEY: modelKey });
    const complaint = async (...args: readonly string[]): Promise<string> => {
      const { failure } = await setup(world, '--skip-checks', ...args);
      assert.equal((failure as { exitCode?: number } | undefined)?.exitCode, 78, args.join(' '));
      return failure?.message ?? '';
    };
    assert.match(await complaint('--platform', 'telegram'), /platforms\.telegram\.token {2}is required.*TELEGRAM_BOT_TOKEN/);
    assert.match(await complaint('--platform', 'telegram', '--set', 'tokn=1:a'), /unknown key; did you mean token\?/);
    assert.match(await complaint('--platform', 'pigeon'), /unknown platform|is one of/);
    assert.match(await complaint('--model-provider', 'opnai', '--model', 'x'), /Did you mean openai\?/);
    assert.match(await complaint('--model-provider', 'openai'), /Pass --model/);
    assert.match(await complaint('--model-provider', 'deepseek', '--model', 'x'), /DEEPSEEK_API_KEY is not set/);
    assert.match(await complaint('--base-url', 'http://127.0.0.1:9/v1', '--model', 'x', '--api-key-env', 'NO_SUCH_KEY'), /NO_SUCH_KEY is not set/);
    assert.match(await complaint('--allow-user', '7'), /Pass --platform/);
    assert.match(await complaint('--platform', 'telegram', '--set', 'token=123456:abc', '--allow-user', '@ada'), /That is a name/);
    assert.match(await complaint('--set', 'port=1'), /needs --platform, or the whole path/);
    assert.deepEqual(await filesOf(world), []);
  });

  test('without a terminal and without answers says what to pass, and mends no broken file', async () => {
    await using outer = await newWorld();
    const world = fresh(outer);
    const ran = await hermes(world, ['setup']);
    assert.equal(ran.code, 78);
    assert.match(ran.err, /There is no terminal to ask in[^]*--non-interactive --model-provider/);
    await mkdir(world.home);
    await writeFile(join(world.home, 'config.yaml'), 'http: { prot: 1 }\n');
    assert.match((await setup(world, ...model(world))).failure?.message ?? '', /has to be mended first:\n {2}config\.yaml:1:9 {2}http\.prot/);
  });
});

describe('the setup line by line', { concurrency: true }, () => {
  test('asks, takes an address and a key, checks them and writes them', async () => {
    await using outer = await newWorld();
    const world = fresh(outer);
    const answers = ['Another', 'Any other', world.model.baseUrl, modelKey, 'sim-1', 'Telegram', 'nonsense', world.telegram.token, 'yes', 'base_url', world.telegram.baseUrl, 'Enough', 'I know', '@ada', '7', ''];
    const ran = await hermes(world, ['setup', '--plain'], answers.join('\n'));
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /must look like 123456:ABC[^]*Telegram knows it as @hermes_test_bot[^]*That is a name[^]*Send to @hermes_test_bot on Telegram:\n\s+Hello!/);
    assert.ok(!ran.out.includes(modelKey) && !ran.out.includes(world.telegram.token));
    assert.match(await read(world, 'config.yaml'), /provider: custom\n[^]*api_key: \$\{MODEL_API_KEY\}\n[^]*allowed_users: \[ ?"7" ?\]/);
    const again = await hermes(world, ['setup', '--plain'], '\n\n');
    assert.match(again.out, /1\. Keep sim-1 \(custom\)[^]*1\. Telegram \(configured\)[^]*somebody is let in already[^]*Nothing was changed\./);
    assert.equal(again.code, 0);
  });

  test('that ends in the middle has changed nothing', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    const ran = await hermes(world, ['setup', '--plain', '--platform', 'telegram', '--set', `base_url=${world.telegram.baseUrl}`], 'The built-in\n1');
    assert.equal(ran.code, 130);
    assert.match(ran.err, /Nothing was changed\./);
    assert.deepEqual(await filesOf(world), []);
  });
});
