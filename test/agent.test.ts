import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

type Json = Readonly<Record<string, unknown>>;

const call = (id: string, name: string, args: Json) => ({ id, name, arguments: JSON.stringify(args) });

/** What the last request says about a call's result. */
const resultOf = (world: World, id: string): string | undefined => {
  const messages = world.model.requests.at(-1)?.body.messages ?? [];
  return messages.findLast((message) => message['tool_call_id'] === id)?.['content'] as string | undefined;
};

/** The question with buttons that stands in the chat, if one does. */
const question = (world: World, chatId = '7') => world.telegram.visible(chatId).findLast((message) => message.choices.length > 0);

const press = async (world: World, label: RegExp, senderId = '7', chatId = '7'): Promise<void> => {
  const asked = question(world, chatId) ?? assert.fail('nothing is asked');
  const choice = asked.choices.find((each) => label.test(each.label)) ?? assert.fail(`no button like ${label}`);
  await world.telegram.press(chatId, asked.id, choice.data, senderId);
};

const asked = (world: World, chatId = '7') => until(() => question(world, chatId) !== undefined, 'a question with buttons');

const lines = async (path: string): Promise<readonly string[]> => (await readFile(path, 'utf8')).trim().split('\n');

test('a turn that waits for an approval is killed, and goes on after the restart without running anything twice', async () => {
  await using world = await newWorld();
  const log = join(world.home, 'workspace', 'ran.txt');
  const script: readonly Answer[] = [
    calls(call('c1', 'write_file', { path: 'notes.txt', content: 'one\n' })),
    calls(call('c2', 'terminal', { command: 'echo first >> ran.txt' })),
    calls(call('c3', 'terminal', { command: 'rm -r build; echo second >> ran.txt' })),
    says('All done.'),
  ];
  world.model.next(...script);
  const before = await startOutside(world);
  await world.say('please work');
  await asked(world);
  await before.kill();
  assert.equal(world.model.requests.length, 3);
  await using _after = await startOutside(world);
  await press(world, /once/i);
  await until(() => world.shown().includes('All done.'), 'the answer');
  assert.deepEqual(await lines(log), ['first', 'second']);
  assert.equal(world.model.requests.length, 4, 'the model was asked once for each step');
  assert.equal(await readFile(join(world.home, 'workspace', 'notes.txt'), 'utf8'), 'one\n');
});

test('a command that was approved and cut off by a kill is not run again', async () => {
  await using world = await newWorld();
  const log = join(world.home, 'workspace', 'ran.txt');
  world.model.next(calls(call('c1', 'terminal', { command: 'rm -rf build; echo begun >> ran.txt; sleep 60' })), says('I will look.'));
  const before = await startOutside(world);
  await world.say('please');
  await asked(world);
  await press(world, /once/i);
  await until(async () => (await lines(log).catch(() => [])).length > 0, 'the command to begin');
  await before.kill();
  await using _after = await startOutside(world);
  await until(() => world.shown().includes('I will look.'), 'the answer');
  assert.deepEqual(await lines(log), ['begun']);
  assert.match(resultOf(world, 'c1') ?? '', /may have taken effect/);
});

test('a denied command is not run, and the model is told', async () => {
  await using world = await newWorld();
  world.model.next(calls(call('c1', 'terminal', { command: 'rm -r build && touch gone' })), says('As you wish.'));
  await using _inside = await startInside(world);
  await world.say('please');
  await asked(world);
  await world.say('no');
  await until(() => world.shown().includes('As you wish.'), 'the answer');
  assert.match(resultOf(world, 'c1') ?? '', /denied|did not allow|said no/i);
  await assert.rejects(readFile(join(world.home, 'workspace', 'gone')));
  await until(() => question(world) === undefined, 'the buttons to be gone');
});

test("the gateway's own files are asked about by every name of its home, and the agent's are not", async () => {
  await using world = await newWorld();
  await mkdir(join(world.home, 'backups'));
  await writeFile(join(world.home, 'backups', 'hermes.tar.gz'), 'credentials');
  await symlink(world.home, `${world.home}-link`);
  const linked: World = { ...world, home: `${world.home}-link`, env: { ...world.env, HERMES_HOME: `${world.home}-link` } };
  try {
    world.model.next(calls(call('c1', 'terminal', { command: 'echo mine > notes.txt; cat notes.txt' })), calls(call('c2', 'terminal', { command: `cp ${world.home}/backups/hermes.tar.gz out` })), says('As you wish.'));
    await using _inside = await startInside(linked);
    await world.say('please');
    await asked(world);
    assert.match(question(world)?.text ?? '', /reads credentials/);
    assert.match(resultOf(world, 'c1') ?? '', /mine/);
    await world.say('no');
    await until(() => world.shown().includes('As you wish.'), 'the answer');
    await assert.rejects(readFile(join(world.home, 'workspace', 'out')));
  } finally {
    await rm(`${world.home}-link`);
  }
});

test('in a group only those who may approve are heard', async () => {
  await using world = await newWorld();
  const group = '-1005';
  await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], group_allowed_chats: [group], group_allow_admin_from: ['7'], group_user_allowed_commands: ['status'] } } });
  world.model.next(calls(call('c1', 'terminal', { command: 'rm -r build' })), says('Done.'));
  await using _inside = await startInside(world);
  await world.telegram.say({ chatId: group, chatType: 'group', senderId: '8', text: 'clean up', mention: true });
  await asked(world, group);
  await press(world, /once/i, '8', group);
  await until(() => world.telegram.callbackAnswers().some(({ text }) => /somebody else/.test(text ?? '')), 'the press to be refused');
  assert.equal(world.model.requests.length, 1);
  await press(world, /once/i, '7', group);
  await until(() => world.telegram.visible(group).some(({ text }) => text === 'Done.'), 'the answer');
});

test('the agent asks, and the next words answer it instead of beginning a turn', async () => {
  await using world = await newWorld();
  world.model.next(calls(call('c1', 'clarify', { question: 'Which colour?' })), says('Blue it is.'));
  await using _inside = await startInside(world);
  await world.say('paint it');
  await until(() => world.shown().some((text) => text.includes('Which colour?')), 'the question');
  await world.say('dark blue');
  await until(() => world.shown().includes('Blue it is.'), 'the answer');
  assert.match(resultOf(world, 'c1') ?? '', /dark blue/);
  assert.equal(world.model.requests.length, 2);
});

test('a program in the background reports its end in the conversation, once', async () => {
  await using world = await newWorld();
  world.model.next(calls(call('c1', 'terminal', { command: 'echo ready', background: true, notify_on_complete: true })), says('Started.'), says('It is ready.'));
  await using _inside = await startInside(world);
  await world.say('start it');
  await until(() => world.shown().includes('It is ready.'), 'the report');
  const last = world.model.requests.at(-1)?.body.messages.at(-1);
  assert.match(String(last?.['content']), /echo ready/);
  assert.equal(world.model.requests.length, 3);
});
