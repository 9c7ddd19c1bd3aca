import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { outboxRows, transcript } from './support/scenes.ts';
import { hermes } from './support/terminal.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const group = '-1005';
const platformsOf = (world: World, more: object = {}) => ({ telegram: { ...world.telegram.options, allowed_users: ['7'], group_allowed_chats: [group], ...more } });

test('a message from the shell goes out through the running gateway, with its files, and the chat’s conversation knows of it', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: platformsOf(world, { home_channel: '7' }) });
  await using inside = await startInside(world);
  await world.say('hello');
  await until(() => world.shown().includes('re: hello'), 'an answer');
  const file = join(world.home, 'report.txt');
  await writeFile(file, 'all is well');
  const sent = await hermes(world, ['send', '--to', 'telegram', '--file', file, '--text', 'the **report**']);
  assert.deepEqual([sent.code, sent.err], [0, '']);
  assert.match(sent.out, /^telegram:7 +sent +as \d+\n$/);
  const last = world.telegram.visible('7').at(-1);
  assert.deepEqual([last?.text, last?.media.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])], ['the report', [['report.txt', 'all is well']]]);
  const said = (await transcript(inside.store)).at(-1);
  assert.equal(said?.role, 'user');
  assert.match(said?.content ?? '', /hermes send[\s\S]*the \*\*report\*\*/);
  await world.say('what was that?');
  await until(() => world.shown().at(-1)?.startsWith('re: ') === true, 'an answer to the question');
  assert.ok(JSON.stringify(world.model.requests.at(-1)?.body).includes('the **report**'), 'the model has been told');
});

test('without a gateway it is kept, says so, and goes out once with the next one', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: platformsOf(world), channels: { aliases: { telegram: { [group]: 'ops' } } } });
  const sent = await hermes(world, ['send', '--to', 'telegram:#OPS,telegram:7', '--json'], 'from a pipe');
  assert.equal(sent.code, 0);
  const reports = JSON.parse(sent.out) as readonly { target: string; state: string; detail: string }[];
  assert.deepEqual(reports.map(({ target, state }) => [target, state]), [[`telegram:${group}`, 'stored'], ['telegram:7', 'stored']]);
  assert.match(reports[0]?.detail ?? '', /no gateway serves telegram now/);
  for (let starts = 0; starts < 2; starts += 1) {
    await using _inside = await startInside(world);
    await until(() => world.telegram.visible(group).length > 0 && world.shown().length > 0, 'the messages');
  }
  assert.deepEqual([world.telegram.visible(group).map(({ text }) => text), world.shown()], [['from a pipe'], ['from a pipe']]);
});

test('what cannot be sent is named with its fix and an exit code of its own, and nothing is sent', async () => {
  await using world = await newWorld();
  await using inside = await startInside(world);
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, err, out } = await hermes(world, ['send', ...args]);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    return err;
  };
  assert.match(await refused('--to', 'mars:1', 'hi'), /no platform called "mars"/);
  assert.match(await refused('--to', 'telegram', 'hi'), /\/sethome/);
  assert.match(await refused('--to', 'telegram:7'), /there is no text/);
  assert.match(await refused('--to', 'telegram:7', '--file', join(world.home, 'missing.png')), /cannot be read \(ENOENT\)/);
  assert.match(await refused('--to', 'telegram:7', '--file', world.home), /is not a file/);
  assert.match(await refused('--to', 'origin', 'hi'), /no chat that this comes from/);
  assert.deepEqual(await outboxRows(inside.store), []);
  world.telegram.refuseChat('99', { status: 403, description: 'Forbidden: bot was blocked by the user' });
  const blocked = await hermes(world, ['send', '--to', 'telegram:99', 'hi']);
  assert.equal(blocked.code, 1);
  assert.match(blocked.out, /failed .*blocked/);
});

test('a message may be left to itself, kept in a file, or sent to where the agent’s command comes from', async () => {
  await using world = await newWorld();
  await using inside = await startInside(world);
  assert.match((await hermes(world, ['send', '--to', 'telegram:7', '--no-wait', 'go'])).out, /^telegram:7 +stored\n$/);
  await until(() => world.shown().includes('go'), 'the message');
  const kept = await hermes(world, ['send', '--to', 'local', 'only', 'kept']);
  assert.match(await readFile(/kept +(\S+)\n$/.exec(kept.out)?.[1] ?? '', 'utf8'), /---\n\nonly kept\n$/);
  const fromAgent = { ...world, env: { ...world.env, HERMES_SESSION_SOURCE: 'telegram', HERMES_SESSION_CHAT_ID: '7' } };
  assert.equal((await hermes(fromAgent, ['send', '--to', 'origin', 'back'])).code, 0);
  assert.deepEqual(world.shown(), ['go', 'back']);
  assert.equal((await outboxRows(inside.store)).length, 2);
});

test('hermes channels lists where people have spoken, and the owner’s own names', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: platformsOf(world), channels: { aliases: { telegram: { '-99': 'ops' } } } });
  {
    await using _inside = await startInside(world);
    await world.telegram.say({ chatId: group, chatType: 'group', senderId: '7', text: 'hello', mention: true });
    await until(() => world.telegram.visible(group).length > 1 || world.telegram.visible(group).some(({ text }) => text.includes('re:')), 'an answer');
  }
  await mkdir(join(world.home, 'media'), { recursive: true });
  const listed = await hermes(world, ['channels', '--refresh']);
  assert.equal(listed.code, 0);
  assert.match(listed.out, /^TARGET +KIND +NAME +SPOKEN IN\ntelegram:-1005 +group +.+ ago\ntelegram:-99 +group +ops\n$/);
  const entries = JSON.parse((await hermes(world, ['channels', 'telegram', '--json'])).out) as readonly { chatId: string }[];
  assert.deepEqual(entries.map(({ chatId }) => chatId), [group, '-99']);
  const unknown = await hermes(world, ['channels', 'nowhere']);
  assert.deepEqual([unknown.code, unknown.err.startsWith('There is no account nowhere')], [78, true]);
});
