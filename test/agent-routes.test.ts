import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { group, call, telegram, inGroup, toSupport, asked, saidIn, answerIn } from './support/agents-scene.ts';
import type { Json } from './support/agents-scene.ts';
import { heldAnswer, inboxRows, peek } from './support/scenes.ts';
import { lastUserText, newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Outside, World } from './support/whole.ts';

describe('routes to agents', { concurrency: true }, () => {
  const countOf = (outside: Outside, word: string): number => outside.output().split(word).length - 1;
  const reload = async (world: World, outside: Outside, changes: Json): Promise<void> => {
    const before = countOf(outside, '"config.reloaded"');
    await world.configure(changes);
    await until(() => countOf(outside, '"config.reloaded"') > before, 'the change to be taken over');
  };

  test('a changed route moves the next message and nothing else', async () => {
    await using world = await newWorld();
    const base = { platforms: { telegram: { ...telegram(world), busy_input_mode: 'queue' } }, agents: { support: { model: 'sim-support' } } };
    await world.configure(base);
    await using outside = await startOutside(world);
    await world.say('first');
    await answerIn(world, '7', 're: first');
    await world.say('elsewhere', { chatId: '8', senderId: '8' });
    await answerIn(world, '8', 're: elsewhere');

    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('slow');
    await until(() => slow.held() === 1, 'a turn to run');
    await world.say('waiting');
    await until(() => peek(world, async (store) => (await inboxRows(store)).length === 4), 'what waits to be stored');
    await reload(world, outside, { ...base, routes: [{ match: { chat_id: '7' }, agent: 'support' }] });
    assert.equal(slow.held(), 1, 'what runs goes on');

    await world.say('next');
    await answerIn(world, '7', 're: next');
    assert.deepEqual(saidIn(asked(world, 'sim-support')[0] ?? assert.fail()), ['next'], 'the next message begins a conversation with the other agent');
    await world.say('elsewhere again', { chatId: '8', senderId: '8' });
    await answerIn(world, '8', 're: elsewhere again');
    slow.open();
    await answerIn(world, '7', 're: slow');
    await answerIn(world, '7', 're: waiting');
    const main = asked(world, 'sim-1');
    assert.deepEqual(saidIn(main.findLast((request) => lastUserText(request.body) === 'waiting') ?? assert.fail()), ['first', 'slow', 'waiting'], 'what was said before the change stays with the first');
    assert.deepEqual(saidIn(main.findLast((request) => lastUserText(request.body) === 'elsewhere again') ?? assert.fail()), ['elsewhere', 'elsewhere again'], 'no other chat is touched');

    await world.say('more for you');
    await answerIn(world, '7', 're: more for you');
    assert.deepEqual(saidIn(asked(world, 'sim-support').at(-1) ?? assert.fail()), ['next', 'more for you']);
    await reload(world, outside, base);
    await world.say('back');
    await answerIn(world, '7', 're: back');
    assert.deepEqual(saidIn(asked(world, 'sim-1').at(-1) ?? assert.fail()), ['first', 'slow', 'waiting', 'back'], 'its own conversation goes on when it answers again');
    assert.equal(world.shown('7').length, 6);
  });

  test('what runs for the agent of before can still be stopped from its place', async () => {
    await using world = await newWorld();
    const base = { platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } } };
    await world.configure(base);
    await using outside = await startOutside(world);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('slow');
    await until(() => slow.held() === 1, 'a turn to run');
    await reload(world, outside, { ...base, default_agent: 'support' });
    await world.say('/stop');
    await until(() => world.shown().some((text) => text.includes('Stopped')), 'the answer to /stop');
    await until(() => slow.held() === 0, 'the call to be broken off');
  });

  test('a route to nobody is refused at the start, and a reload with one changes nothing', async () => {
    await using world = await newWorld();
    await world.configure({ routes: [{ match: { chat_id: '7' }, agent: 'nobody' }] });
    await assert.rejects(startOutside(world), /routes\[0\] names the agent nobody, which does not exist; there are: main/);
    const good = { platforms: { telegram: telegram(world) }, agents: { support: { model: 'sim-support' } }, routes: [toSupport] };
    await world.configure(good);
    await using outside = await startOutside(world);
    await world.configure({ ...good, agents: {} });
    await until(() => outside.output().includes('config.kept_last_good'), 'the complaint');
    await inGroup(world, 'hello');
    await answerIn(world, group, 're: hello');
    assert.equal(asked(world, 'sim-support').length, 1);
    assert.match(outside.output(), /routes\[0\] names the agent support/);
  });
});

describe('limits of agents', { concurrency: true }, () => {
  test('an agent runs as many turns at once as it may, others of it wait in order, and nobody else waits for them', async () => {
    await using world = await newWorld();
    const people = ['11', '12', '13', '14'];
    await world.configure({
      platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', ...people], busy_input_mode: 'queue' } },
      agent: { max_concurrent_turns: 2 },
      agents: { support: { model: 'sim-support', max_concurrent_turns: 1 } },
      routes: people.map((chat_id) => ({ match: { chat_id }, agent: 'support' })),
    });
    await using inside = await startInside(world);
    const order = [...people, 'more of 11'];
    const gates = new Map(order.map((said) => [said, heldAnswer()]));
    world.model.otherwise(async (response, request) => {
      const said = lastUserText(request.body);
      await (gates.get(said)?.answer ?? says(`re: ${said}`))(response, request);
    });
    for (const chat of people) await world.say(chat, { chatId: chat, senderId: chat });
    await until(() => asked(world, 'sim-support').length === 1, 'the first turn');
    await world.say('more of 11', { chatId: '11', senderId: '11' });
    await world.say('from elsewhere');
    await answerIn(world, '7', 're: from elsewhere');
    await until(() => inside.gateway.runningTurns === 1, 'those who wait to take no room');
    for (const [i, said] of order.entries()) {
      await until(() => asked(world, 'sim-support').length === i + 1, `turn ${i + 1}`);
      assert.deepEqual(asked(world, 'sim-support').map(({ body }) => lastUserText(body)), order.slice(0, i + 1), 'one at a time, and whoever has more to say comes behind those who waited');
      gates.get(said)?.open();
      await answerIn(world, people[i] ?? '11', `re: ${said}`);
    }
  });

  test('an agent that has spent what it may says so once in each chat, keeps what is written, and goes on when it may', async () => {
    await using world = await newWorld();
    const base = {
      // A call of the simulator reads 100 tokens and writes 20.
      model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', prices: { 'sim-support': { input: 5000, output: 25_000 } } },
      platforms: { telegram: telegram(world) },
      routes: [toSupport, { match: { chat_id: '8' }, agent: 'support' }],
    };
    const limited = (daily_spend_usd: number) => ({ ...base, agents: { support: { model: 'sim-support', daily_spend_usd } } });
    await world.configure(limited(1.5));
    const notices = (chatId: string): number => world.shown(chatId).filter((text) => text.includes('my limit for today')).length;
    const first = await startInside(world);
    await inGroup(world, 'one');
    await answerIn(world, group, 're: one');
    await inGroup(world, 'two');
    await answerIn(world, group, 're: two');
    await inGroup(world, 'three');
    await until(() => notices(group) === 1, 'the notice');
    await inGroup(world, 'four');
    await world.say('the others', { chatId: '7' });
    await answerIn(world, '7', 're: the others');
    await first.stop();
    const spend = await peek(world, (store) => store.read((db) => db.q.selectFrom('agent_spend').selectAll().where('agent', '=', 'support').executeTakeFirst()));
    assert.deepEqual([spend?.usd, spend?.unpriced], [2, 0]);

    const second = await startInside(world);
    await world.say('hello', { chatId: '8', senderId: '8' });
    await until(() => notices('8') === 1, 'the notice in another chat, after a restart');
    await inGroup(world, 'five');
    await world.say('once more', { chatId: '7' });
    await answerIn(world, '7', 're: once more');
    assert.equal(notices(group), 1);
    assert.equal(asked(world, 'sim-support').length, 2);
    await second.stop();

    await using outside = await startOutside(world);
    await world.configure(limited(3.5));
    await until(() => asked(world, 'sim-support').length === 4, 'what waited to be answered');
    const answered = asked(world, 'sim-support').slice(2).map((request) => saidIn(request).at(-1));
    assert.deepEqual(answered.toSorted(), ['hello', 'three\n\nfour\n\nfive'], 'all of it, in order, when the limit is raised');
    await inGroup(world, 'six');
    await world.say('and now', { chatId: '7' });
    await answerIn(world, '7', 're: and now');
    await outside.stop();
    await world.configure(limited(100));
    await using _last = await startInside(world);
    await answerIn(world, group, 're: six');
    assert.deepEqual([notices(group), notices('8')], [1, 1]);
  });

  test('a turn that crosses the limit ends before its next call, with what it has said', async () => {
    await using world = await newWorld();
    await world.configure({
      model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', prices: { 'sim-1': { input: 5000, output: 25_000 } } },
      agents: { main: { daily_spend_usd: 1 } },
    });
    world.model.next(calls(call('c1', 'current_time', {})));
    await using inside = await startInside(world);
    await world.say('work');
    await until(() => world.shown().some((text) => text.includes('used up what I may spend today')), 'the reason');
    assert.equal(world.model.requests.length, 1);
    const [turn] = await inside.store.read((db) => db.q.selectFrom('turns').selectAll().execute());
    assert.deepEqual([turn?.exit_reason, turn?.cost_usd, turn?.cost_status], ['model_error', 1, 'estimated']);
  });
});
