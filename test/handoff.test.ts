import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldAnswer, peek } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const group = '-1005';
const access = (world: World) => ({ telegram: { ...world.telegram.options, allowed_users: ['7'], group_allowed_chats: [group] } });

const talk = async (world: World, texts: readonly string[]): Promise<void> => {
  for (const text of texts) {
    await world.say(text);
    await until(() => world.shown().includes(`re: ${text}`), `the answer to ${text}`);
  }
};

/** What the model was sent last, role by role. */
const lastRequest = (world: World): readonly string[] => {
  const { messages = [] } = (world.model.requests.at(-1)?.body ?? {}) as { messages?: readonly { role: string; content: unknown }[] };
  return messages.filter(({ role }) => role !== 'system').map(({ role, content }) => `${role}: ${String(content)}`);
};

const inTopic = (world: World, threadId: string) => world.telegram.visible(group).filter((message) => message.threadId === threadId);

const handedOver = async (inside: Inside, world: World): Promise<void> => {
  const states = () => inside.store.read((db) => db.q.selectFrom('handoffs').select('state').execute());
  await until(async () => (await states()).some(({ state }) => state === 'completed'), 'the handoff to end');
  await until(() => world.shown().some((text) => /continues in Telegram/.test(text)), 'the former place to be told');
};

test('a conversation goes on in a topic of its own, with everything that was said, for whoever speaks there next', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: access(world), thread_sessions_per_user: true });
  world.telegram.makeForum(group);
  await using inside = await startInside(world);
  await talk(world, ['one', 'two', 'three']);
  await world.say(`/handoff telegram:${group}`);
  await handedOver(inside, world);
  const topic = world.telegram.visible(group).find(({ threadId }) => threadId !== undefined)?.threadId ?? assert.fail('the report stands in a topic');
  for (const senderId of ['7', '8']) {
    await world.telegram.say({ chatId: group, chatType: 'group', senderId, text: `hello from ${senderId}`, threadId: topic, mention: true });
    await until(() => inTopic(world, topic).some(({ text }) => text.includes(`hello from ${senderId}`)), 'an answer in the topic');
    for (const said of ['user: one', 'user: two', 'user: three']) assert.ok(lastRequest(world).some((line) => line.includes(said)), `${senderId} continues: ${said}`);
  }
  await world.say('fresh start');
  await until(() => world.shown().includes('re: fresh start'), 'an answer where the conversation was');
  assert.equal(lastRequest(world).some((line) => line.includes('one')), false, 'the former place begins anew');
  const { id } = await inside.store.read((db) => db.q.selectFrom('sessions').select('id').orderBy('created_at').limit(1).executeTakeFirstOrThrow());
  await world.say(`/resume ${id}`);
  await until(() => /Back in/.test(world.shown().at(-1) ?? ''), 'the conversation to come back');
  await talk(world, ['home again']);
  assert.ok(lastRequest(world).some((line) => line.includes('user: one')), 'whoever had it takes it back');
});

test('where everybody has their own conversation, whoever speaks first gets it and nobody loses theirs', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: access(world) });
  await using inside = await startInside(world);
  const speak = async (senderId: string, text: string): Promise<void> => {
    await world.telegram.say({ chatId: group, chatType: 'group', senderId, text, mention: true });
    await until(() => world.telegram.visible(group).some((message) => message.text.includes(`re: ${text}`)), `an answer to ${text}`);
  };
  await speak('8', 'mine');
  await talk(world, ['one']);
  await world.say(`/handoff telegram:${group}`);
  await handedOver(inside, world);
  await speak('7', 'next');
  assert.ok(lastRequest(world).some((line) => line.includes('one')));
  await speak('8', 'still mine');
  assert.ok(lastRequest(world).some((line) => line.includes('mine')));
  assert.equal(lastRequest(world).some((line) => line.includes('one')), false);
});

test('what cannot be reached is named, and the conversation stays where it is', async () => {
  await using world = await newWorld();
  await using inside = await startInside(world);
  await talk(world, ['one']);
  for (const [destination, reason] of [['mars', /no platform called "mars"/], ['telegram@work', /not active/], ['telegram', /no home channel/]] as const) {
    await world.say(`/handoff ${destination}`);
    await until(() => reason.test(world.shown().at(-1) ?? ''), `${destination} is refused`);
  }
  await talk(world, ['two']);
  assert.ok(lastRequest(world).some((line) => line.includes('user: one')));
  assert.equal(inside.gateway.runningTurns, 0);
});

test('a place that takes no message gets back what it had, and the conversation too', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: access(world) });
  await using inside = await startInside(world);
  await talk(world, ['one']);
  world.telegram.refuseChat('99', { status: 403, description: 'Forbidden: bot was blocked by the user' });
  await world.say('/handoff telegram:99');
  await until(() => /stays here/.test(world.shown().at(-1) ?? ''), 'the failure is told');
  await talk(world, ['two']);
  assert.ok(lastRequest(world).some((line) => line.includes('user: one')));
  const bound = await inside.store.read((db) => db.q.selectFrom('bindings').select('session_key').where('session_key', 'like', '%:99').execute());
  assert.deepEqual(bound, []);
});

test('a gateway that ends while the agent is still to report leaves nothing half moved: the next one goes on with it', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: access(world), agent: { restart_drain_timeout: 0 } });
  const slow = heldAnswer();
  {
    await using inside = await startInside(world);
    await talk(world, ['one']);
    world.model.next(slow.answer);
    await world.say('/handoff telegram:99');
    await until(() => slow.held() === 1, 'the agent to be asked for its report');
    assert.equal((await inside.store.read((db) => db.q.selectFrom('handoffs').select('state').executeTakeFirst()))?.state, 'running');
  }
  await peek(world, (store) => store.write((tx) => tx.q.updateTable('handoffs').set({ lease_until: 0 }).execute()));
  slow.open();
  await using inside = await startInside(world);
  await handedOver(inside, world);
  assert.equal(world.shown('99').length, 1);
  const bound = await inside.store.read((db) => db.q.selectFrom('bindings').select('session_key').execute());
  assert.deepEqual(bound.map(({ session_key }) => session_key.split(':').slice(0, 5).join(':')), ['agent:main:telegram:dm:99']);
});
