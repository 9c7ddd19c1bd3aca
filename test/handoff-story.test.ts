import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { openPiped } from './support/terminal.ts';
import { lastUserText, newWorld, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const home = '-1005';
const turns = 30;

/** Looks at the clock before every answer. */
const withTools = (world: World): void =>
  world.model.otherwise((response, request) => {
    const said = lastUserText(request.body);
    const looked = request.body.messages.at(-1)?.['role'] === 'tool';
    const answer = looked || said.startsWith('[') ? says(`re: ${said.slice(0, 60)}`) : calls({ id: `c${world.model.requests.length}`, name: 'current_time', arguments: '{}' });
    return answer(response, request);
  });

const roles = (world: World, role: string): readonly string[] => (world.model.requests.at(-1)?.body.messages ?? []).filter((message) => message['role'] === role).map((message) => String(message['content']));

test('thirty turns with tool results go from the terminal into a topic and back, whole', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], home_channel: { chat_id: home } } } });
  world.telegram.makeForum(home);
  withTools(world);
  await using _gateway = await startOutside(world);
  await using terminal = openPiped(world, ['--plain']);
  for (let turn = 1; turn <= turns; turn += 1) terminal.type(`step ${turn}`);
  terminal.type('/title The long one');
  terminal.type('/handoff telegram');
  const { code, out } = await terminal.ended;
  assert.equal(code, 0);
  assert.match(out, /Handed over to telegram[^]*\/resume The long one/);

  const report = world.telegram.visible(home).find(({ threadId }) => threadId !== undefined) ?? assert.fail('the agent reports in a topic');
  assert.deepEqual([...world.telegram.topics(home).values()], ['Hermes — The long one']);
  await world.telegram.say({ chatId: home, chatType: 'group', senderId: '7', text: 'and now?', threadId: report.threadId ?? '', mention: true });
  await until(() => world.telegram.visible(home).some(({ text }) => /re: .*and now\?/.test(text)), 'the answer in the topic');
  const said = roles(world, 'user');
  for (let turn = 1; turn <= turns; turn += 1) assert.ok(said.includes(`step ${turn}`), `step ${turn} was sent along`);
  assert.equal(roles(world, 'tool').length, turns, 'with every result');

  await world.telegram.say({ chatId: home, chatType: 'group', senderId: '7', text: '/handoff terminal', threadId: report.threadId ?? '' });
  await until(() => world.telegram.visible(home).some(({ text }) => /continues in Terminal/.test(text)), 'the topic to be told');
  await using back = openPiped(world, ['-c', '--plain']);
  back.type('back again');
  await until(() => back.out().includes('re: back again'), 'the answer in the terminal');
  assert.ok(roles(world, 'user').includes('step 1'));
  back.end();
  await back.ended;
});
