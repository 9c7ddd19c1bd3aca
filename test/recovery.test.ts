import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { saidBy, heldAnswer, inboxRows, numbered, outboxRows, peek, turnRows } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const queueing = { display: { busy_input_mode: 'queue', busy_ack_enabled: false, streaming: false } };
const draining = { agent: { restart_drain_timeout: 0 } };

const sayAll = async (world: World, texts: readonly string[]): Promise<void> => {
  for (const text of texts) await world.say(text);
};

const states = (world: World): Promise<readonly string[]> => peek(world, async (store) => (await inboxRows(store)).map((row) => row.state));

/** Ten messages in one chat are each in the transcript once and were answered once, in order. */
const assertAllAnswered = async (world: World, texts: readonly string[]): Promise<void> => {
  assert.deepEqual(world.shown(), texts.map((text) => `re: ${text}`));
  await peek(world, async (store) => {
    assert.deepEqual(await saidBy(store, 'user'), texts);
    assert.deepEqual(await saidBy(store, 'assistant'), texts.map((text) => `re: ${text}`));
    assert.deepEqual((await inboxRows(store)).map((row) => row.state), texts.map(() => 'done'));
    assert.deepEqual((await outboxRows(store)).map((row) => row.state), texts.map(() => 'sent'));
  });
  assert.deepEqual(world.telegram.violations(), []);
};

describe('recovery', { concurrency: true }, () => {
  describe('nothing that was taken is lost, doubled or out of order', { concurrency: true }, () => {
    test('when the process is killed as soon as the first of ten messages is stored', async () => {
      await using world = await newWorld(queueing);
      const texts = numbered(10);
      const slow = heldAnswer();
      world.model.otherwise(slow.answer);
      {
        await using first = await startOutside(world);
        await world.say(texts[0] ?? '');
        await until(async () => (await states(world)).length === 1, 'the first to be stored');
        await first.kill();
      }
      await sayAll(world, texts.slice(1));
      await using _second = await startOutside(world);
      slow.open();
      await until(() => world.shown().length >= 10, 'ten answers');
      await until(async () => (await states(world)).every((state) => state === 'done'), 'every message to be done');
      await until(() => peek(world, async (store) => (await outboxRows(store)).every((row) => row.state === 'sent')), 'every answer to be recorded');
      await assertAllAnswered(world, texts);
    });

    test('when the process is killed with one running and nine waiting', async () => {
      await using world = await newWorld(queueing);
      const texts = numbered(10);
      const slow = heldAnswer();
      world.model.otherwise(slow.answer);
      {
        await using first = await startOutside(world);
        await sayAll(world, texts);
        await until(async () => (await states(world)).length === 10 && slow.held() === 1, 'one to run and nine to wait');
        assert.deepEqual(await states(world), ['running', ...texts.slice(1).map(() => 'waiting')]);
        await first.kill();
      }
      await using _second = await startOutside(world);
      slow.open();
      await until(() => world.shown().length >= 10, 'ten answers');
      await until(() => peek(world, async (store) => (await outboxRows(store)).filter((row) => row.state === 'sent').length === 10), 'every answer to be recorded');
      await assertAllAnswered(world, texts);
    });

    test('when the process is asked to end with one running and nine waiting; the turn has not failed', async () => {
      await using world = await newWorld();
      await world.configure({ ...queueing, ...draining, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7'], gateway_restart_notification: false } } });
      const texts = numbered(10);
      const slow = heldAnswer();
      world.model.otherwise(slow.answer);
      {
        await using first = await startOutside(world);
        await sayAll(world, texts);
        await until(async () => (await states(world)).length === 10 && slow.held() === 1, 'one to run and nine to wait');
        assert.equal(await first.stop(), 0);
      }
      assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => [turn.state, turn.attempts])), [['running', 0]]);
      await using _second = await startOutside(world);
      slow.open();
      await until(() => world.shown().length >= 10, 'ten answers');
      await until(() => peek(world, async (store) => (await outboxRows(store)).filter((row) => row.state === 'sent').length === 10), 'every answer to be recorded');
      await assertAllAnswered(world, texts);
      assert.deepEqual(await peek(world, async (store) => (await turnRows(store)).map((turn) => turn.attempts)), texts.map(() => 1));
    });

    test('when newer messages interrupt: the last turn sees all of it in order, also after a kill', async () => {
      await using world = await newWorld({ display: { busy_input_mode: 'interrupt', busy_ack_enabled: false, streaming: false } });
      const texts = numbered(10);
      const slow = heldAnswer();
      world.model.otherwise(slow.answer);
      {
        await using first = await startOutside(world);
        await sayAll(world, texts);
        await until(async () => (await states(world)).length === 10, 'ten messages to be stored');
        await until(() => slow.held() === 1, 'a turn to run');
        await first.kill();
      }
      await using _second = await startOutside(world);
      slow.open();
      await until(() => world.shown().some((text) => text.includes('message 10')), 'an answer to the last');
      await until(async () => (await states(world)).every((state) => state === 'done'), 'every message to be done');
      assert.deepEqual(await peek(world, (store) => saidBy(store, 'user')), texts);
      const seen = JSON.stringify(world.model.requests.at(-1)?.body.messages);
      const places = texts.map((text) => seen.search(new RegExp(`${text}\\b`)));
      assert.ok(places.every((place) => place !== -1), seen);
      assert.deepEqual(places, places.toSorted((a, b) => a - b));
      assert.equal(world.shown().filter((text) => text.includes('message 10')).length, 1);
    });
  });

  describe('the same update again', { concurrency: true }, () => {
    test('is dropped in the same process, side by side, and after a restart', async () => {
      await using world = await newWorld();
      const slow = heldAnswer();
      world.model.otherwise(slow.answer);
      let nativeId = '';
      {
        await using first = await startInside(world);
        nativeId = await world.say('once');
        for (let i = 0; i < 3; i += 1) await world.telegram.redeliver(nativeId);
        await until(() => slow.held() === 1, 'the turn to run');
        await world.telegram.redeliver(nativeId);
        slow.open();
        await until(() => world.shown().length === 1, 'an answer');
        await world.telegram.redeliver(nativeId);
        await until(() => first.logLines.filter((line) => line.includes('"duplicate"')).length >= 5, 'five repeats to be dropped');
      }
      await using second = await startInside(world);
      await world.telegram.redeliver(nativeId);
      await until(() => second.logLines.some((line) => line.includes('"duplicate"')), 'the repeat to be dropped');
      await world.say('afterwards');
      await until(() => world.shown().length === 2, 'the next answer');
      assert.deepEqual(world.shown(), ['re: once', 're: afterwards']);
      assert.deepEqual(await saidBy(second.store, 'user'), ['once', 'afterwards']);
      assert.equal(world.model.requests.length, 2);
    });
  });

  test('a turn that ends the process is tried three times, then set aside with one notice, and the conversation goes on', async () => {
    await using world = await newWorld(queueing);
    const deadly = heldAnswer();
    world.model.otherwise(deadly.answer);
    await world.say('this kills');
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await using victim = await startOutside(world);
      await until(() => world.model.requests.length === attempt && deadly.held() === 1, `attempt ${attempt}`);
      await victim.kill();
      await until(() => deadly.held() === 0, 'the call to be gone');
    }
    await world.say('this is harmless');
    deadly.open();
    await using last = await startOutside(world);
    await until(() => world.shown().length === 2, 'a notice and an answer');
    const [notice = '', answer] = world.shown();
    assert.match(notice, /set this message aside/);
    assert.equal(answer, 're: this is harmless');
    assert.equal(world.model.requests.length, 4);
    assert.ok(!JSON.stringify(world.model.requests.at(-1)?.body).includes('this kills'), 'what ended the process is kept from the model');
    assert.equal(await last.stop(), 0);
    await peek(world, async (store) => {
      assert.deepEqual((await turnRows(store)).map((turn) => [turn.state, turn.attempts]), [['set_aside', 3], ['done', 1]]);
      assert.deepEqual((await inboxRows(store)).map((row) => row.state), ['set_aside', 'done']);
      assert.deepEqual(await saidBy(store, 'user'), ['this kills', 'this is harmless']);
    });
  });
});
