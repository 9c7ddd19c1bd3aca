import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hermes } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

interface Asking {
  /** Settings whose secrets come from commands that count how often they run. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** How often each of them has run. */
  counts(): Promise<readonly number[]>;
}

const asking = async (world: World): Promise<Asking> => {
  const logs = ['model', 'telegram'].map((name) => join(world.home, `asked-${name}`));
  // A command has ten seconds, which are enough for a shell on any machine.
  const [forModel = '', forTelegram = ''] = [['sk-simulated-model-key', logs[0]], [String(world.telegram.options['token']), logs[1]]].map(([secret, path]) => `echo asked >> "${path}" && echo ${secret}`);
  const { token: _token, ...telegram } = world.telegram.options;
  return {
    settings: {
      model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key_cmd: forModel },
      platforms: { telegram: { ...telegram, token_cmd: forTelegram, allowed_users: ['7'], home_channel: '7' } },
    },
    counts: () => Promise.all(logs.map(async (path) => (existsSync(path) ? (await readFile(path, 'utf8')).split('\n').length - 1 : 0))),
  };
};

describe('a command that prints a secret', { concurrency: true }, () => {
  test('and fails keeps the gateway from starting only now: whoever starts it may try again', async () => {
    await using world = await newWorld();
    const model = { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl };
    await world.configure({ model: { ...model, api_key_cmd: 'exit 1' } });
    await assert.rejects(startOutside(world), /ended with 1:[^]*api_key/);
    await world.configure({ model: { ...model, api_key_cmd: 'exit 1' }, http: { prot: 1 } });
    await assert.rejects(startOutside(world), /ended with 78:/);
  });

  test('runs once at a start, and once whenever one of the files is written', async () => {
    await using world = await newWorld();
    const { settings, counts } = await asking(world);
    // A key that has moved: the file is rewritten at the start, and read for that.
    await world.configure({ ...settings, timezone: 'Europe/Berlin' });
    await using outside = await startOutside(world);
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer');
    await until(() => existsSync(join(world.home, 'backups', 'last-good', 'config.yaml')), 'the configuration to be kept');
    assert.deepEqual(await counts(), [1, 1]);
    await world.configure({ ...settings, display: { busy_ack_enabled: false } });
    await until(() => outside.output().includes('config.reloaded'), 'the change to be taken over');
    const kept = join(world.home, 'backups', 'last-good', 'config.yaml');
    await until(async () => (await readFile(kept, 'utf8')).includes('busy_ack_enabled'), 'the change to be kept');
    assert.deepEqual(await counts(), [2, 2]);
    const nowSeconds = Date.now() / 1000;
    await utimes(join(world.home, 'config.yaml'), nowSeconds, nowSeconds + 5);
    await until(async () => (await counts()).every((count) => count === 3), 'the commands to be asked again');
  });

  test('runs once for a command of the program that needs the secret, and never for one that does not', async () => {
    await using world = await newWorld();
    const { settings, counts } = await asking(world);
    await world.configure(settings);
    const sent = await hermes(world, ['send', '--to', 'telegram:7', 'hello']);
    assert.match(sent.out, /stored/, sent.err);
    assert.deepEqual(await counts(), [1, 1]);
    for (const args of [['sessions', 'list'], ['pairing', 'list'], ['trace', '1']]) await hermes(world, args);
    assert.deepEqual(await counts(), [1, 1]);
  });

  test('does not run for the status of a gateway that runs', async () => {
    await using world = await newWorld();
    const { settings, counts } = await asking(world);
    await world.configure(settings);
    await using _outside = await startOutside(world);
    assert.deepEqual(await counts(), [1, 1]);
    const status = await hermes(world, ['status']);
    assert.match(status.out, /running/, status.err);
    assert.deepEqual(await counts(), [1, 1]);
  });
});
