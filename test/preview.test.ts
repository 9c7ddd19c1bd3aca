import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { movingClock } from './support/moving-clock.ts';
import { callsTo, heldAnswer, inboxRows, outboxRows, peek, saidBy, streamedAnswer, transcript, turnRows } from './support/scenes.ts';
import type { StreamedAnswer } from './support/scenes.ts';
import { newWorld, startInside, startOutside, until } from './support/whole.ts';
import type { World } from './support/whole.ts';

const cursor = '▉';
const growing = { display: { streaming: true } };
const sends = (world: World) => callsTo(world.telegram, '7', ['sendMessage']).length;
const edits = (world: World) => callsTo(world.telegram, '7', ['editMessageText']).length;

/** Starts an answer and waits until its beginning is shown. */
const showBeginning = async (world: World, text: string): Promise<StreamedAnswer> => {
  const stream = streamedAnswer();
  world.model.next(stream.answer);
  await world.say('tell me');
  await until(stream.begun, 'the model to be asked');
  stream.write(text);
  await until(() => world.shown().length === 1, 'the preview');
  return stream;
};

const somebodyDeletes = (world: World, messageId: string) =>
  fetch(`${world.telegram.baseUrl}/bot${world.telegram.token}/deleteMessage`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ chat_id: 7, message_id: Number(messageId) }) });

describe('what is seen of a turn', { concurrency: true }, () => {
  describe('an answer while it is written', { concurrency: true }, () => {
    test('is shown, grows in the same message, and ends whole and without the cursor', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world);
      const stream = await showBeginning(world, 'Once upon');
      assert.deepEqual(world.shown(), [`Once upon ${cursor}`]);
      stream.write(' a **time**');
      await until(() => edits(world) >= 1, 'the preview to grow');
      assert.equal(world.shown().length, 1);
      stream.write(' there was');
      stream.end();
      await until(async () => (await outboxRows(inside.store))[0]?.state === 'sent', 'the end');
      assert.deepEqual(world.shown(), ['Once upon a time there was']);
      assert.equal(sends(world), 1);
      assert.deepEqual(await saidBy(inside.store, 'assistant'), ['Once upon a **time** there was']);
      assert.deepEqual(world.telegram.violations(), []);
    });

    test('needs no preview when it is quick', async () => {
      await using world = await newWorld(growing);
      // No time goes by.
      await using _inside = await startInside(world, { clock: movingClock(0) });
      await world.say('quick');
      await until(() => world.shown().length === 1, 'the answer');
      assert.deepEqual(world.shown(), ['re: quick']);
      assert.deepEqual([sends(world), edits(world)], [1, 0]);
    });

    test('goes on in further messages when it outgrows one: the first part takes the place of the preview', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world);
      const stream = await showBeginning(world, 'The beginning. ');
      const previewId = world.telegram.visible('7')[0]?.id;
      const words = Array.from({ length: 1500 }, (_, i) => `word${i}`);
      stream.write(words.join(' '));
      stream.end();
      await until(async () => {
        const rows = await outboxRows(inside.store);
        return rows.length > 1 && rows.every((row) => row.state === 'sent');
      }, 'all parts');
      const shown = world.telegram.visible('7');
      assert.equal(shown[0]?.id, previewId);
      const whole = shown.map((message) => message.text.replace(/ \(\d\/\d\)$/, '')).join(' ');
      assert.equal(whole, `The beginning. ${words.join(' ')}`);
      assert.ok(shown.every((message) => !message.text.includes(cursor)));
    });

    test('is sent as a new message when somebody has deleted the preview', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world);
      const stream = await showBeginning(world, 'Once upon');
      await somebodyDeletes(world, world.telegram.visible('7')[0]?.id ?? '');
      assert.deepEqual(world.shown(), []);
      stream.write(' a time');
      stream.end();
      await until(async () => (await outboxRows(inside.store))[0]?.state === 'sent', 'the end');
      assert.deepEqual(world.shown(), ['Once upon a time']);
    });

    test('leaves a chat alone that wants to be, and still ends whole', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world);
      const stream = await showBeginning(world, 'Once upon');
      world.telegram.fail({ what: 'edit', fault: { type: 'rate_limit', retryAfterMs: 2000 } });
      stream.write(' a time');
      const limit = () => callsTo(world.telegram, '7').find((call) => call.status === 429);
      await until(() => limit() !== undefined, 'the limit');
      stream.write(' there was');
      stream.end();
      await until(async () => (await outboxRows(inside.store))[0]?.state === 'sent', 'the end');
      assert.deepEqual(world.shown(), ['Once upon a time there was']);
      // Not the typing: one that was already on its way when the limit came is nobody's fault.
      const calls = callsTo(world.telegram, '7', ['sendMessage', 'editMessageText']);
      const at = calls.findIndex((call) => call === limit());
      assert.ok(at >= 0 && calls.length > at + 1);
      for (const { atMs } of calls.slice(at + 1)) assert.ok(atMs - (calls[at]?.atMs ?? 0) >= 1900, `${atMs - (calls[at]?.atMs ?? 0)} ms after the limit`);
    });

    test('is finished in the same message after the process was killed', async () => {
      await using world = await newWorld(growing);
      {
        await using first = await startOutside(world);
        await showBeginning(world, 'Once upon a time that nobody');
        await until(() => peek(world, async (store) => (await turnRows(store))[0]?.preview !== null), 'the preview to be recorded');
        await first.kill();
      }
      world.model.next(says('Another beginning, and an end'));
      await using _second = await startOutside(world);
      await until(() => world.shown()[0] === 'Another beginning, and an end', 'the end');
      assert.equal(world.shown().length, 1);
      assert.equal(sends(world), 1);
    });

    test('shows nothing of a silence, and the turn says so', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world);
      const stream = streamedAnswer();
      world.model.next(stream.answer);
      await world.say('no need to answer');
      await until(stream.begun, 'the model to be asked');
      stream.write('[SIL');
      await new Promise((resolve) => setTimeout(resolve, 1200));
      stream.write('ENT]');
      stream.end();
      await until(async () => (await turnRows(inside.store))[0]?.state === 'done', 'the turn to end');
      assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['silent']);
      assert.deepEqual(world.shown(), []);
      assert.deepEqual(await outboxRows(inside.store), []);
    });

    for (const [how, text, end] of [['/stop', '/stop', '— stopped'], ['a newer message', 'never mind', '— interrupted by your next message']] as const) {
      test(`is not left half-written with a cursor by ${how}`, async () => {
        await using world = await newWorld({ display: { ...growing.display, busy_ack_enabled: false } });
        await using inside = await startInside(world);
        await showBeginning(world, 'Once upon');
        await world.say(text);
        await until(async () => (await turnRows(inside.store)).every(({ state }) => state === 'done') && (await inboxRows(inside.store)).every(({ state }) => state === 'done'), 'everything to be answered');
        await until(async () => (await outboxRows(inside.store)).every((row) => row.state === 'sent'), 'all to be shown');
        assert.equal(world.shown().length, 2);
        assert.equal(world.shown()[0], `Once upon\n\n${end}`);
        assert.ok(!world.shown().join().includes(cursor));
      });
    }

    test('stays in its place when a tool is called in between: each text is shown once, in order', async () => {
      await using world = await newWorld(growing);
      await using inside = await startInside(world, { clock: movingClock(0) });
      world.model.next(
        (response, request) => calls({ id: 'call_1', name: 'current_time', arguments: '{}' })(response, request),
        says('It is late.'),
      );
      await world.say('what time is it?');
      await until(() => world.shown().length === 1, 'the answer');
      assert.deepEqual(world.shown(), ['It is late.']);
      assert.deepEqual((await transcript(inside.store)).map((row) => row.role), ['user', 'assistant', 'tool', 'assistant']);
    });
  });

  describe('tool calls', { concurrency: true }, () => {
    test('of the built-in demo model are stored, run and answered, with what was said before them', async () => {
      await using world = await newWorld({ model: { provider: 'demo' }, display: { streaming: false } });
      await using inside = await startInside(world);
      await world.say('what time is it?');
      await until(() => world.shown().length === 2, 'both texts');
      assert.equal(world.shown()[0], 'Let me look at the clock.');
      assert.match(world.shown()[1] ?? '', /The tool current_time answered/);
      assert.deepEqual((await transcript(inside.store)).map((row) => row.role), ['user', 'assistant', 'tool', 'assistant']);
    });

    test('that have no result when the process ends are reported as interrupted and not run again', async () => {
      await using world = await newWorld({ display: { streaming: false } });
      const second = heldAnswer(says('I could not find out.'));
      world.model.next(calls({ id: 'call_1', name: 'current_time', arguments: '{}' }), second.answer);
      {
        await using first = await startOutside(world);
        await world.say('what time is it?');
        await until(() => second.held() === 1, 'the result to be handed back');
        await first.kill();
      }
      // As if it had been killed a moment earlier, while the tool ran.
      await peek(world, (store) => store.write((tx) => tx.q.deleteFrom('messages').where('role', '=', 'tool').execute()));
      world.model.next(says('I could not find out.'));
      await using inside = await startInside(world);
      await until(() => world.shown().length === 1, 'the answer');
      const [result = ''] = await saidBy(inside.store, 'tool');
      assert.match(result, /^Interrupted by a restart/);
      assert.ok(JSON.stringify(world.model.requests.at(-1)?.body.messages).includes('Interrupted by a restart'));
      assert.equal((await saidBy(inside.store, 'tool')).length, 1);
      assert.deepEqual(world.shown(), ['I could not find out.']);
    });
  });
});
