import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import { callsTo, heldAnswer, inboxRows, saidBy } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';

const forum = '-600';
const people = ['7', '8'] as const;
const topics = ['1', '11', '12'] as const;

interface Spoken {
  readonly simulator: TelegramSimulator;
  readonly topic: string;
  readonly text: string;
}

describe('the right place', { concurrency: true }, () => {
  test('every answer leaves by the account, chat and topic of its question, however many speak at once; General has no thread', async () => {
    await using world = await newWorld();
    await using work = await startTelegramSimulator({ token: '7000000002:simulated-token-BBBBBBBBBBBBBBBBBBBBBB' });
    const allowed_users = [...people];
    await world.configure({
      display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue' },
      thread_sessions_per_user: true,
      platforms: { telegram: { ...world.telegram.options, allowed_users, accounts: { work: { ...work.options, allowed_users } } } },
    });
    const slow = heldAnswer();
    world.model.otherwise(slow.answer);
    await using inside = await startInside(world);
    const spoken: Spoken[] = [];
    for (const [name, simulator] of [['home', world.telegram], ['work', work]] as const) {
      simulator.makeForum(forum);
      for (const topic of topics) {
        for (const senderId of people) {
          const text = `${name} topic ${topic} by ${senderId}`;
          await simulator.say({ chatId: forum, chatType: 'group', senderId, text, threadId: topic });
          spoken.push({ simulator, topic, text });
        }
      }
      await simulator.say({ chatId: '7', chatType: 'dm', senderId: '7', text: `${name} direct` });
    }
    await until(async () => slow.held() === 14, 'all to be asked side by side');
    slow.open();
    await until(() => [world.telegram, work].every((simulator) => simulator.visible(forum).length === 6 && simulator.visible('7').length === 1), 'all answers');
    for (const { simulator, topic, text } of spoken) {
      const found = simulator.visible(forum).filter((message) => message.text === `re: ${text}`);
      assert.deepEqual(found.map((message) => message.threadId), [topic], text);
    }
    assert.equal(world.telegram.visible('7')[0]?.text, 're: home direct');
    assert.equal(work.visible('7')[0]?.text, 're: work direct');
    for (const simulator of [world.telegram, work]) {
      const general = callsTo(simulator, forum, ['sendMessage']).filter((call) => String(call.params['text']).includes('topic 1 by'));
      assert.equal(general.length, 2);
      assert.ok(general.every((call) => !('message_thread_id' in call.params)));
      assert.deepEqual(simulator.violations(), []);
    }
    assert.equal(new Set((await inboxRows(inside.store)).map((row) => row.session_id)).size, 14, 'nobody reads what another has said');
    for (const request of world.model.requests) assert.equal(request.body.messages.filter((message) => message['role'] === 'user').length, 1);
    assert.equal((await saidBy(inside.store, 'user')).length, 14);
  });

  test('the same message number in two chats, or at two accounts, is two messages', async () => {
    await using world = await newWorld();
    await using work = await startTelegramSimulator({ token: '7000000002:simulated-token-BBBBBBBBBBBBBBBBBBBBBB' });
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], accounts: { work: { ...work.options, allowed_users: ['7'] } } } } });
    await using _inside = await startInside(world);
    const message = (chat: object, text: string) => ({ message: { message_id: 500, from: { id: 7, is_bot: false, first_name: 'P' }, chat, date: Math.floor(Date.now() / 1000), text } });
    world.telegram.deliver(message({ id: 7, type: 'private', first_name: 'P' }, 'direct'));
    world.telegram.deliver(message({ id: -700, type: 'supergroup', title: 'G' }, 'group'));
    work.deliver(message({ id: 7, type: 'private', first_name: 'P' }, 'work'));
    await until(() => world.shown().length === 1 && world.shown('-700').length === 1 && work.visible('7').length === 1, 'three answers');
    assert.deepEqual([world.shown()[0], world.shown('-700')[0], work.visible('7')[0]?.text], ['re: direct', 're: group', 're: work']);
  });
});
