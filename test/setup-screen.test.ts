import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { heldAnswer } from './support/scenes.ts';
import { credentials, fresh, modelKey } from './support/fresh-home.ts';
import { noScreenReason, openScreen } from './support/terminal.ts';
import type { TestScreen } from './support/terminal.ts';
import { newWorld, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const type = (screen: TestScreen, text: string): void => {
  screen.press('-l', text);
  screen.press('Enter');
};

const model = (world: World): readonly string[] => ['--model-provider', 'openai', '--model', 'sim-1', '--base-url', world.model.baseUrl];

describe('the wizard on a screen', { concurrency: 3, skip: noScreenReason ?? false }, () => {
  test('leads from nothing to the first message, hides what is secret, and asks again for what was refused', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, { OPENAI_API_KEY: modelKey, OPENAI_BASE_URL: outer.model.baseUrl });
    using screen = openScreen({ ...world, home: outer.home }, { args: ['setup', '--platform', 'telegram', '--set', 'http.port=0'], columns: 78, rows: 40 });
    await screen.sees('OPENAI_API_KEY is set');
    screen.press('Enter');
    await screen.sees('The name of the model');
    type(screen, 'sim-1');
    await screen.sees('Keep OPENAI_API_KEY in .env too');
    screen.press('Enter');
    await screen.sees(/sim-1 answers, after \d+ ms/);
    await screen.sees('Bot token from @BotFather');
    type(screen, 'nonsense');
    await screen.sees('must look like 123456:ABC');
    screen.press('BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace');
    type(screen, world.telegram.token);
    await screen.sees('more settings. Change any?');
    screen.press('Left', 'Enter');
    await screen.sees('Which one?');
    screen.press('Down', 'Enter');
    await screen.sees('Root of the Bot API');
    type(screen, world.telegram.baseUrl);
    await until(() => screen.everything().split('Which one?').length === 3, 'to be asked for more');
    screen.press('Enter');
    await screen.sees('Telegram knows it as @hermes_test_bot');
    await screen.sees('How do you get in?');
    screen.press('Enter');
    await screen.sees('Write this to');
    assert.ok(!existsSync(world.home), 'nothing is written before the end');
    screen.press('Enter');
    await screen.sees(/Send to @hermes_test_bot on Telegram, within 60 minutes:\s*│?\n.*\b[A-Z2-9]{8}\b/);
    await screen.sees('left with 0');
    const shown = screen.everything();
    for (const secret of [modelKey, world.telegram.token, 'nonsense']) assert.ok(!shown.includes(secret), 'a secret is on the screen');
    assert.match(await readFile(join(world.home, '.env'), 'utf8'), new RegExp(`OPENAI_API_KEY=${modelKey}\n[^]*TELEGRAM_BOT_TOKEN=${world.telegram.token}\n`));
    assert.match(await readFile(join(world.home, 'config.yaml'), 'utf8'), /default: sim-1\n[^]*enabled: true\n/);
  });

  test('is left with Control-C at a question and while it waits, at 60 columns and without colour, and then everything is as it was', async () => {
    await using outer = await newWorld();
    const world = fresh(outer, credentials(outer));
    using asking = openScreen({ ...world, home: outer.home }, { args: ['setup', 'platform'], columns: 60, env: { NO_COLOR: '1' } });
    await asking.sees('Where do you want to talk');
    asking.press('C-c');
    await asking.sees('Nothing was changed.');
    await asking.sees('left with 130');
    const held = heldAnswer();
    world.model.otherwise(held.answer);
    using waiting = openScreen({ ...world, home: outer.home }, { args: ['setup', ...model(world)], columns: 60 });
    await until(() => held.held() === 1, 'the model to be asked');
    waiting.press('C-c');
    await waiting.sees('Nothing was changed.');
    await waiting.sees('left with 130');
    held.open();
    assert.ok(!existsSync(world.home));
  });

  test('asks line by line on a dumb terminal, without showing a key', async () => {
    await using outer = await newWorld();
    const world = fresh(outer);
    using screen = openScreen({ ...world, home: outer.home }, { args: ['setup', 'platform'], columns: 120, env: { TERM: 'dumb' } });
    await screen.sees('Number or name [1]:');
    type(screen, 'Telegram');
    await screen.sees('Bot token from @BotFather (not shown):');
    type(screen, '123456:a-token-that-is-not-shown');
    await screen.sees('more settings. Change any? [y/N]:');
    assert.ok(!screen.everything().includes('a-token-that-is-not-shown'));
    screen.press('C-c');
    await screen.sees('left with 130');
  });
});
