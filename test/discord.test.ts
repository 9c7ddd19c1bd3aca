import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { startDiscordSimulator } from '../src/platforms/discord/simulator.ts';
import type { DiscordSimulator } from '../src/platforms/discord/simulator.ts';
import type { SimulatedMessage } from '../src/platforms/simulator.ts';
import { echo, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

let discord: DiscordSimulator;
let world: World;

beforeEach(async () => {
  discord = await startDiscordSimulator();
  world = await newWorld();
  await account({ allowed_users: [discord.ids.person] });
});
afterEach(async () => {
  assert.deepEqual(discord.violations(), []);
  await discord[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const account = (options: Readonly<Record<string, unknown>>): Promise<void> => world.configure({ platforms: { discord: { ...discord.options, ...options } } });

const dm = (text: string, more: Partial<SimulatedMessage> = {}): SimulatedMessage => ({ chatId: discord.ids.dm, chatType: 'dm', senderId: discord.ids.person, text, ...more });
const channel = (text: string, more: Partial<SimulatedMessage> = {}): SimulatedMessage => ({ chatId: discord.ids.text, chatType: 'group', senderId: discord.ids.person, text, mention: true, ...more });

const shown = (chatId: string = discord.ids.dm): readonly string[] => discord.visible(chatId).map(({ text }) => text);
const answered = (chatId: string, ...texts: readonly string[]): Promise<void> => until(() => texts.every((text) => shown(chatId).includes(text)), `${texts.join(', ')} in ${shown(chatId).join(', ')}`);

test('people are answered where they speak: directly, in channels and in threads', async () => {
  await using _inside = await startInside(world);
  const id = await discord.say(dm('hello'));
  await discord.say(channel('and here?'));
  await discord.say({ ...channel('inside'), chatId: discord.ids.thread, chatType: 'thread', mention: false });
  await answered(discord.ids.dm, 're: hello');
  await until(() => shown(discord.ids.text).length === 1 && shown(discord.ids.thread).length === 1, 'all answers');
  assert.equal(discord.visible(discord.ids.dm)[0]?.replyTo, id);
  assert.match(shown(discord.ids.text)[0] ?? '', /and here\?/);
});

test('the menu is published, a command from it is answered in its place, also where answers are not attached', async () => {
  await account({ allowed_users: [discord.ids.person], reply_to_mode: 'off' });
  await using _inside = await startInside(world);
  await until(() => discord.commands().length > 5, 'the menu');
  const id = await discord.command({ chatId: discord.ids.text, senderId: discord.ids.person, name: 'status' });
  await until(() => shown(discord.ids.text).length === 1, 'the answer');
  assert.deepEqual([discord.answerTo(id).kind, discord.visible(discord.ids.text)[0]?.edited], [5, 1]);
  await discord.say(dm('hello'));
  await answered(discord.ids.dm, 're: hello');
  assert.equal(discord.visible(discord.ids.dm)[0]?.replyTo, undefined);
});

test('a role lets people in on its own server, and nowhere else', async () => {
  await account({ allowed_roles: ['4242'], unauthorized_dm_behavior: 'ignore' });
  discord.giveRoles(discord.ids.person, ['4242']);
  await using inside = await startInside(world);
  await discord.say(dm('from outside'));
  await discord.say(channel('a stranger', { senderId: '77' }));
  await discord.say(channel('a member'));
  await until(() => shown(discord.ids.text).length === 1, 'the answer to the member');
  const skipped = () => inside.logLines.filter((line) => line.includes('denied by default')).length;
  await until(() => skipped() === 2, 'both denials');
  assert.deepEqual([world.model.requests.length, shown()], [1, []]);
});

test('a connection that breaks during a turn loses and doubles nothing', async () => {
  const thinking = Promise.withResolvers<void>();
  world.model.next(async (response, request) => {
    await thinking.promise;
    await echo(response, request);
  });
  await account({ allowed_users: [discord.ids.person], busy_input_mode: 'queue' });
  await using _inside = await startInside(world);
  await discord.say(dm('think'));
  await until(() => world.model.requests.length === 1, 'the turn');
  discord.gateway.disconnect();
  discord.sayMeanwhile(dm('meanwhile'));
  thinking.resolve();
  await answered(discord.ids.dm, 're: think', 're: meanwhile');
  await discord.say(dm('again'));
  await answered(discord.ids.dm, 're: again');
  assert.deepEqual(shown(), ['re: think', 're: meanwhile', 're: again']);
});

test('a process that is killed finds what was said while it was away, and answers it once', async () => {
  const first = await startOutside(world);
  try {
    await discord.say(dm('one'));
    await answered(discord.ids.dm, 're: one');
  } finally {
    await first.kill();
  }
  discord.gateway.invalidate = true;
  discord.sayMeanwhile(dm('two'));
  discord.sayMeanwhile(channel('three'));
  await using _second = await startOutside(world);
  await answered(discord.ids.dm, 're: two');
  await until(() => shown(discord.ids.text).length === 1, 'the answer in the channel');
  await discord.say(dm('four'));
  await answered(discord.ids.dm, 're: four');
  assert.deepEqual(shown(), ['re: one', 're: two', 're: four']);
});

test('a message whose answer was lost is repeated without being shown twice or marked', async () => {
  await using _inside = await startInside(world);
  discord.fail({ what: 'send', fault: { type: 'drop_answer' }, count: 2 });
  await discord.say(dm('hello'));
  await answered(discord.ids.dm, 're: hello');
  await discord.say(dm('next'));
  await answered(discord.ids.dm, 're: next');
  assert.deepEqual(shown(), ['re: hello', 're: next']);
});

test('a limit on one channel does not hold up another', async () => {
  await using _inside = await startInside(world);
  discord.limits.channels.set(discord.ids.text, 60_000);
  await discord.say(channel('slow'));
  await until(() => discord.log.some(({ status }) => status === 429), 'the limit');
  await discord.say(dm('fast'));
  await answered(discord.ids.dm, 're: fast');
  assert.deepEqual(shown(discord.ids.text), []);
});

test('a question is answered by its button', async () => {
  await using _inside = await startInside(world);
  await discord.say(dm('hello'));
  await answered(discord.ids.dm, 're: hello');
  await discord.say(dm('/new'));
  await until(() => discord.visible(discord.ids.dm).some(({ choices }) => choices.length > 0), 'the question');
  const question = discord.visible(discord.ids.dm).find(({ choices }) => choices.length > 0);
  const [choice] = question?.choices ?? [];
  assert.ok(question !== undefined && choice !== undefined);
  const id = await discord.press(discord.ids.dm, question.id, choice.data, discord.ids.person);
  await until(() => discord.answerTo(id).kind !== undefined, 'the press is confirmed');
  await until(() => discord.visible(discord.ids.dm).every(({ choices }) => choices.length === 0), 'the buttons are gone');
});
