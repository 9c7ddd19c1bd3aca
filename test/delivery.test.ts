import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { says } from '../src/agent/models/chat-simulator.ts';
import { deadTargets } from '../src/store/messages/gates.ts';
import { failedDeliveries } from '../src/store/messages/outbox.ts';
import { movingClock } from './support/moving-clock.ts';
import { callsTo, heldAnswer, outboxRows, peek, streamedAnswer, turnRows } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const plainly = { display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue' } };
const quietly = (world: World) => ({ ...plainly, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '8'], typing_indicator: false } } });

const states = async ({ store }: Inside): Promise<readonly (readonly [string, number])[]> => (await outboxRows(store)).map((row) => [row.state, row.repeated] as const);

describe('deliveries', { concurrency: true }, () => {
  describe('an answer of the platform that is lost', { concurrency: true }, () => {
    test('leads to one repeat, marked as one, and that is final', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      world.telegram.fail({ what: 'send', fault: { type: 'drop_answer' } });
      await world.say('hello');
      await until(async () => (await states(inside))[0]?.[0] === 'sent', 'the repeat to be sent');
      assert.deepEqual(world.shown(), ['re: hello', '♻️ Possibly a repeat:\nre: hello']);
      assert.deepEqual(await states(inside), [['sent', 1]]);
      await world.say('next');
      await until(() => world.shown().length === 3, 'the next answer');
      assert.equal(world.shown()[2], 're: next');
    });

    test('twice ends the delivery visibly, and the chat goes on', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      world.telegram.fail({ what: 'send', fault: { type: 'drop_answer' }, count: 2 });
      await world.say('hello');
      await until(async () => (await states(inside))[0]?.[0] === 'failed', 'the delivery to be given up');
      assert.equal(world.shown().length, 2);
      const [failed] = await inside.store.read((db) => failedDeliveries(db, 5));
      assert.match(failed?.error ?? '', /unknown_outcome/);
      await world.say('next');
      await until(() => world.shown().length === 3, 'the next answer');
      assert.equal(world.shown()[2], 're: next');
      assert.equal(callsTo(world.telegram, '7', ['sendMessage']).length, 3);
    });

    test('because the process was killed between the send and its recording leads to one marked repeat after the start', async () => {
      await using world = await newWorld(plainly);
      world.telegram.fail({ what: 'send', fault: { type: 'delay', ms: 600 } });
      {
        await using first = await startOutside(world);
        await world.say('hello');
        await until(() => callsTo(world.telegram, '7', ['sendMessage']).length === 1, 'the send to be under way');
        await first.kill();
      }
      await until(() => world.shown().length === 1, 'Telegram to show what the dead process sent');
      await using _second = await startOutside(world);
      const settled = () => peek(world, async (store) => (await outboxRows(store)).map((row) => [row.state, row.repeated]));
      await until(async () => (await settled())[0]?.[0] === 'sent', 'the repeat to be recorded');
      assert.deepEqual(world.shown(), ['re: hello', '♻️ Possibly a repeat:\nre: hello']);
      assert.deepEqual(await settled(), [['sent', 1]]);
      assert.equal(callsTo(world.telegram, '7', ['sendMessage']).length, 2);
      assert.equal(world.model.requests.length, 1);
    });
  });

  describe('a rate limit', { concurrency: true }, () => {
    test('of a chat silences everything to that chat for that time and to no other, then its text comes once and whole', async () => {
      await using world = await newWorld();
      await world.configure({ display: { busy_ack_enabled: false, streaming: true }, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '8'] } } });
      const clock = movingClock(1);
      await using inside = await startInside(world, { clock, storeClock: clock });
      world.telegram.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 600_000 } });
      await world.say('in A');
      await until(async () => (await outboxRows(inside.store))[0]?.log.includes('rate_limited') === true, 'the limit to be recorded');
      const before = callsTo(world.telegram, '7').length;
      const again = streamedAnswer();
      world.model.next(again.answer);
      await world.say('again in A');
      await until(again.begun, 'the model to be asked');
      again.write('re: again');
      // Longer than typing signs and previews need to appear.
      clock.pass(10_000);
      await world.say('in B', { chatId: '8', senderId: '8' });
      await until(() => world.shown('8').includes('re: in B'), 'the answer in B');
      assert.deepEqual(world.shown(), [], 'B did not wait for A');
      again.write(' in A');
      again.end();
      await until(async () => (await turnRows(inside.store)).every(({ state }) => state === 'done'), 'all turns to end');
      assert.deepEqual(callsTo(world.telegram, '7').slice(before).map((call) => call.method), []);
      clock.pass(600_000);
      await until(() => world.shown().length === 2, 'the answers in A');
      assert.deepEqual(world.shown(), ['re: in A', 're: again in A']);
    });

    test('holds across a restart', async () => {
      await using world = await newWorld(plainly);
      world.telegram.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 3000 } });
      let limitedMs = 0;
      {
        await using inside = await startInside(world);
        await world.say('hello');
        await until(async () => (await outboxRows(inside.store))[0]?.log.includes('rate_limited') === true, 'the limit to be recorded');
        limitedMs = callsTo(world.telegram, '7', ['sendMessage'])[0]?.atMs ?? 0;
      }
      // Nothing is on its way any more.
      const before = callsTo(world.telegram, '7').length;
      await using inside = await startInside(world);
      await world.say('status?');
      await until(() => world.shown().length === 2, 'the answers');
      const later = callsTo(world.telegram, '7').slice(before);
      assert.ok(later.every((call) => call.atMs - limitedMs >= 2900), `the first call came after ${(later[0]?.atMs ?? 0) - limitedMs} ms`);
      assert.deepEqual(world.shown(), ['re: hello', 're: status?']);
      await until(async () => (await states(inside)).every(([state]) => state === 'sent'), 'the answers to be recorded');
      assert.deepEqual((await outboxRows(inside.store)).map((row) => row.attempts), [1, 1]);
    });

    test('of the account silences every chat of it', async () => {
      await using world = await newWorld();
      await world.configure(quietly(world));
      await using first = await startInside(world);
      const untilMs = Date.now() + 1500;
      await first.store.write((tx) => tx.q.insertInto('gates').values({ scope: 'account:telegram', until_ms: untilMs, reason: 'rate_limited' }).execute());
      await first.stop();
      await using _second = await startInside(world);
      await world.say('in A');
      await world.say('in B', { chatId: '8', senderId: '8' });
      await until(() => world.shown('7').length === 1 && world.shown('8').length === 1, 'both answers');
      const early = [...callsTo(world.telegram, '7'), ...callsTo(world.telegram, '8')].filter((call) => call.atMs < untilMs);
      assert.deepEqual(early.map((call) => call.method), []);
    });
  });

  describe('what the platform refuses', { concurrency: true }, () => {
    test('for its markup is sent again as plain text', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      world.model.next(says('some **bold** words'));
      world.telegram.fail({ what: 'send', fault: { type: 'status', status: 400, description: "Bad Request: can't parse entities: scripted" } });
      await world.say('hello');
      await until(() => world.shown().length === 1, 'the answer');
      assert.deepEqual(world.shown(), ['some **bold** words']);
      await until(async () => (await states(inside))[0]?.[0] === 'sent', 'the answer to be recorded');
      assert.deepEqual(await states(inside), [['sent', 0]]);
    });

    test('for its length comes in smaller pieces, whole and in order, before what follows', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      const long = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ');
      world.model.next(says(long), says('after it'));
      world.telegram.fail({ what: 'send', fault: { type: 'status', status: 400, description: 'Bad Request: message is too long' } });
      await world.say('tell me');
      await world.say('and then?');
      await until(() => world.shown().at(-1) === 'after it', 'the last answer');
      const pieces = world.shown().slice(0, -1);
      assert.ok(pieces.length > 1);
      assert.equal(pieces.map((piece) => piece.replace(/ \(\d\/\d\)$/, '')).join(' '), long);
      await until(async () => (await states(inside))[0]?.[0] === 'sent', 'the answer to be recorded');
      const ids = JSON.parse((await outboxRows(inside.store))[0]?.message_ids ?? '[]') as string[];
      assert.equal(ids.length, pieces.length);
    });

    test('because we are blocked fails at once and is listed, until a later message gets through', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      world.telegram.fail({ what: 'send', fault: { type: 'status', status: 403 } });
      await world.say('hello');
      await until(async () => (await states(inside))[0]?.[0] === 'failed', 'the delivery to fail');
      const [dead] = await inside.store.read(deadTargets);
      assert.deepEqual([dead?.account, dead?.chatId], ['telegram', '7']);
      assert.equal(callsTo(world.telegram, '7', ['sendMessage']).length, 1);
      await world.say('I let you in again');
      await until(() => world.shown().length === 1, 'the next answer');
      await until(async () => (await inside.store.read(deadTargets)).length === 0, 'the chat to be reachable again');
    });

    test('because the chat has moved is delivered where it moved to', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('hello', { chatId: '-100', chatType: 'group' });
      await until(() => slow.held() === 1, 'the turn to run');
      world.telegram.refuseChat('-100', { status: 400, description: 'Bad Request: group chat was upgraded to a supergroup chat', movedTo: -200 });
      slow.open();
      await until(() => world.shown('-200').length === 1, 'the answer in the new chat');
      assert.match(world.shown('-200')[0] ?? '', /hello/);
      await until(async () => (await states(inside))[0]?.[0] === 'sent', 'the answer to be recorded');
    });
  });

  test('answers outlast an outage: they arrive in order after it, unmarked', async () => {
    await using world = await newWorld(plainly);
    await using inside = await startInside(world);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('one');
    await world.say('two');
    await until(async () => slow.held() === 1 && world.telegram.pending() === 0, 'both to be stored');
    await world.telegram.goOffline();
    await until(() => inside.logLines.some((line) => line.includes('account.disconnected')), 'the outage to be noticed');
    slow.open();
    await until(async () => ((await outboxRows(inside.store))[0]?.attempts ?? 0) >= 2, 'two attempts in vain');
    await world.telegram.goOnline();
    await until(() => world.shown().length === 2, 'the answers');
    assert.deepEqual(world.shown(), ['re: one', 're: two']);
    await until(async () => (await states(inside)).every(([state]) => state === 'sent'), 'the answers to be recorded');
    assert.deepEqual(await states(inside), [['sent', 0], ['sent', 0]]);
  });

  test('the order of a chat is kept through lost answers, limits, refusals and broken connections', async () => {
    await using world = await newWorld(plainly);
    await using _inside = await startInside(world);
    const fault = (type: 'rate_limit' | 'refuse' | 'drop_answer' | 'garbage' | 'markup') => {
      if (type === 'markup') return { type: 'status', status: 400, description: "Bad Request: can't parse entities" } as const;
      return type === 'rate_limit' ? ({ type, retryAfterMs: 1000 } as const) : ({ type } as const);
    };
    for (const type of ['rate_limit', 'drop_answer', 'markup', 'garbage'] as const) world.telegram.fail({ what: 'send', fault: fault(type) });
    for (const text of ['1', '2', '3', '4', '5']) await world.say(text);
    await until(() => world.shown().at(-1) === 're: 5', 'the last answer');
    const unmarked = world.shown().map((text) => text.replace('♻️ Possibly a repeat:\n', ''));
    assert.deepEqual([...new Set(unmarked)], ['re: 1', 're: 2', 're: 3', 're: 4', 're: 5']);
    assert.deepEqual(unmarked, unmarked.toSorted());
  });
});
