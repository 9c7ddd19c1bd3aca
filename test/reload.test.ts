import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startTelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import { allStatus } from '../src/store/accounts/accounts.ts';
import { heldAnswer, peek } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, replaceFile, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

const countOf = (outside: Outside, word: string): number => outside.output().split(word).length - 1;

const reload = async (world: World, outside: Outside, changes: Readonly<Record<string, unknown>>): Promise<void> => {
  const before = countOf(outside, '"config.reloaded"');
  await world.configure(changes);
  await until(() => countOf(outside, '"config.reloaded"') > before, 'the change to be taken over');
};

const model = (world: World, name: string) => ({ provider: 'openai', default: name, base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key' });

describe('the configuration of a running gateway', { concurrency: true }, () => {
  test('a model, an allowlist and an account are taken over while it runs, and a running turn is not disturbed', async () => {
    await using world = await newWorld();
    await using work = await startTelegramSimulator({ token: '7000000002:simulated-token-BBBBBBBBBBBBBBBBBBBBBB' });
    await using outside = await startOutside(world);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('slow');
    await until(() => slow.held() === 1, 'a turn to run');
    const telegram = { ...world.telegram.options, allowed_users: ['7'] };
    await reload(world, outside, { model: model(world, 'sim-2') });
    await reload(world, outside, { model: model(world, 'sim-2'), platforms: { telegram: { ...telegram, accounts: { work: { ...work.options, allowed_users: ['7'] } } } } });
    slow.open();
    await until(() => world.shown().length === 1, 'the answer of the turn that ran');
    assert.deepEqual(world.shown(), ['re: slow']);
    await work.say({ chatId: '7', chatType: 'dm', senderId: '7', text: 'by the new account' });
    await until(() => work.visible('7').length === 1, 'an answer by the new account');
    assert.equal(world.model.requests.at(-1)?.body['model'], 'sim-2');
    await world.say('let me in', { chatId: '8', senderId: '8' });
    await until(() => world.shown('8').length === 1, 'the notice for a stranger');
    assert.match(world.shown('8')[0] ?? '', /do not know you/);
    await reload(world, outside, { model: model(world, 'sim-2'), platforms: { telegram: { ...telegram, allowed_users: ['7', '8'] } } });
    await world.say('now?', { chatId: '8', senderId: '8' });
    await until(() => world.shown('8').length === 2, 'an answer');
    assert.equal(world.shown('8')[1], 're: now?');
  });

  test('a secret that needs a restart is not taken for changed: the command, the status and the doctor say so', async () => {
    await using world = await newWorld();
    await using outside = await startOutside(world);
    const set = await hermes(world, ['config', 'set', 'http.token', 'a-new-token-of-the-page']);
    assert.deepEqual([set.code, set.out], [0, 'http.token is a secret: it is kept as HERMES_HTTP_TOKEN in .env.\nThe gateway that runs takes it over when it starts anew: hermes gateway restart\n']);
    await until(() => outside.output().includes('"config.awaits_restart"'), 'the change to be noticed');
    await until(async () => (await hermes(world, ['status'])).out.includes('is not in force as it is written: http changed since the start (hermes gateway restart)'), 'the status to say so');
    assert.match((await hermes(world, ['doctor', '--offline'])).out, /http changed since the start/);
    assert.equal((await hermes(world, ['gateway', 'restart'])).code, 0);
    assert.doesNotMatch((await hermes(world, ['status'])).out, /not in force/);
  });

  test('a broken file is reported and changes nothing', async () => {
    await using world = await newWorld();
    await using outside = await startOutside(world);
    await replaceFile(join(world.home, 'config.yaml'), 'model: { provider: openai\nplatforms: [');
    await until(() => outside.output().includes('config.kept_last_good'), 'the complaint');
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    assert.deepEqual(world.shown(), ['re: hello']);
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['*'] } } });
    await until(() => countOf(outside, 'config.kept_last_good') === 2, 'the second complaint');
    await world.say('still?');
    await until(() => world.shown().length === 2, 'an answer');
  });

  test('an account with a bad value is disabled with file and line, and the others run', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], accounts: { work: { token: 'nonsense' } } } } });
    await using outside = await startOutside(world);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    const status = await peek(world, (store) => store.read(allStatus));
    const broken = status.find((account) => account.account === 'telegram@work');
    assert.equal(broken?.state, 'disabled');
    assert.match(broken?.error ?? '', /config\.yaml:\d+/);
    assert.match(outside.output(), /config\.account_disabled/);
  });
});
