import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { heldAnswer, peek, saidBy, streamedAnswer } from './support/scenes.ts';
import { noScreenReason, openScreen } from './support/terminal.ts';
import type { TestScreen } from './support/terminal.ts';
import { newWorld, startOutside, until } from './support/whole.ts';

const say = (screen: TestScreen, text: string): void => {
  screen.press('-l', text);
  screen.press('Enter');
};

const count = (text: string, part: string): number => text.split(part).length - 1;

const statusLines = (screen: TestScreen): readonly string[] => screen.rows().filter((row) => /^─ (?:idle|working)/.test(row));

describe('the terminal on a screen', { concurrency: 3, skip: noScreenReason ?? false }, () => {
  test('shows an answer while it grows, and then once and whole', async () => {
    await using world = await newWorld({ display: { streaming: true } });
    using screen = openScreen(world);
    await screen.sees('─ idle');
    const growing = streamedAnswer();
    world.model.next(growing.answer);
    say(screen, 'tell me');
    await until(() => growing.begun(), 'the model to be asked');
    growing.write('The **first** words ');
    await screen.sees('The first words ▉');
    await screen.sees('─ working');
    growing.write('and the last.');
    growing.end();
    await screen.sees(/The first words and the last\.\n\n─ idle/);
    const all = screen.everything();
    assert.deepEqual([count(all, '› tell me'), count(all, 'The first words'), count(all, '▉')], [1, 1, 0]);
  });

  test('shows what tools do, in their place', async () => {
    await using world = await newWorld();
    using screen = openScreen(world);
    await screen.sees('─ idle');
    world.model.next(calls({ id: 'c1', name: 'current_time', arguments: '{"zone":"Europe/Rome"}' }), says('It is late.'));
    say(screen, 'how late?');
    await screen.sees(/⚙ current_time Europe\/Rome ✓ [\d.]+ m?s\n\nIt is late\./);
  });

  test('answers commands while the model hangs, stops on Control-C, and leaves on two', async () => {
    await using world = await newWorld();
    using screen = openScreen(world);
    await screen.sees('─ idle');
    const held = heldAnswer();
    world.model.next(held.answer);
    say(screen, 'hang');
    await until(() => held.held() === 1, 'the model to be asked');
    say(screen, '/status');
    await screen.sees('State working');
    screen.press('C-c');
    await screen.sees('⏹ Stopped.');
    await screen.sees('─ idle');
    await until(() => held.held() === 0, 'the call to end');
    await screen.sees(/─ idle[^\n]*\n›\s*\n(?!.*Ctrl-C again)/);
    screen.press('C-c');
    await screen.sees('Ctrl-C again to leave');
    // Both have to come within two seconds.
    await until(() => !screen.rows().join('\n').includes('Ctrl-C again'), 'that to be forgotten');
    screen.press('C-c', 'C-c');
    await screen.sees('left with 0');
    held.open();
  });

  test('takes pasted lines as one message, and wide characters at their width, at any size', async () => {
    await using world = await newWorld();
    using screen = openScreen(world, { columns: 120, rows: 30 });
    await screen.sees('─ idle');
    const lines = Array.from({ length: 30 }, (_, i) => `pasted ${i + 1}`).join('\n');
    screen.paste(lines);
    await screen.sees('pasted 30');
    screen.resize(60, 20);
    await until(() => statusLines(screen).length === 1 && (statusLines(screen)[0]?.length ?? 0) <= 60, 'the screen to be drawn anew');
    screen.press('Enter');
    await screen.sees('re: pasted 1');
    screen.press('-l', '你好，世界 👍🏽 x');
    screen.press('Left', 'BSpace', 'BSpace', 'End', 'Enter');
    await screen.sees('re: 你好，世界 x');
    assert.deepEqual(await peek(world, (store) => saidBy(store, 'user')), [lines, '你好，世界 x']);
    assert.equal(statusLines(screen).length, 1);
  });

  test('goes on when the gateway was killed, with what was typed meanwhile', async () => {
    await using world = await newWorld();
    const first = await startOutside(world);
    using screen = openScreen(world);
    await screen.sees('attached to the gateway');
    say(screen, 'before');
    await screen.sees('re: before');
    await first.kill();
    await screen.sees('the gateway is away');
    say(screen, 'meanwhile');
    await screen.sees('1 to send');
    await using _second = await startOutside(world);
    await screen.sees('re: meanwhile');
    await screen.sees('The gateway is back.');
    assert.equal(count(screen.everything(), 're: meanwhile'), 1);
  });

  test('completes, searches, runs shell commands, and comes back to a conversation', async () => {
    await using world = await newWorld();
    {
      using screen = openScreen(world);
      await screen.sees('─ idle');
      say(screen, 'remember me');
      await screen.sees('re: remember me');
      screen.press('-l', '/tit');
      screen.press('Tab');
      screen.press('-l', 'Trip');
      screen.press('Enter');
      await screen.sees('“Trip”');
      screen.press('C-r');
      screen.press('-l', 'remem');
      await screen.sees('history: remem');
      screen.press('C-g');
      say(screen, '!echo $((6 * 7)) from the shell');
      await screen.sees('42 from the shell');
      screen.press('C-d');
      await screen.sees('hermes -r "Trip"');
    }
    using again = openScreen(world, { args: ['-r', 'Trip'] });
    await again.sees(/↩ Trip · 2 messages · \d+ (?:s|min) ago\n› remember me\n {2}re: remember me/);
    again.press('Up', 'Up', 'Up');
    await again.sees('› remember me');
  });

  test('uses neither colours nor cursor movement where it must not', async () => {
    await using world = await newWorld();
    world.model.otherwise(says('# Title\n\n**bold** and `code`'));
    {
      using screen = openScreen(world, { env: { NO_COLOR: '1' } });
      await screen.sees('─ idle');
      say(screen, 'x');
      await screen.sees('# Title\n\nbold and `code`');
    }
    using dumb = openScreen(world, { env: { TERM: 'dumb' } });
    await dumb.sees('hosting one here');
    say(dumb, 'x');
    await dumb.sees('# Title');
    assert.equal(statusLines(dumb).length, 0);
    dumb.press('C-d');
    await dumb.sees('left with 0');
  });
});
