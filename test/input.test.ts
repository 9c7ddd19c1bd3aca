import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { raw, says, silence, status } from '../src/agent/models/chat-simulator.ts';
import type { Answer } from '../src/agent/models/chat-simulator.ts';
import { systemClock } from '../src/lib/clock.ts';
import { SqliteStore } from '../src/store/engines/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { movingClock } from './support/moving-clock.ts';
import { callsTo, heldAnswer, outboxRows, saidBy, turnRows } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';

const plainly = { display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue' } };
const person = { id: 7, is_bot: false, first_name: 'Person 7' };
const direct = { id: 7, type: 'private', first_name: 'Person 7' };
const message = (id: number, content: object) => ({ message: { message_id: id, from: person, chat: direct, date: Math.floor(Date.now() / 1000), ...content } });

/** Lets the database not grow any more, as a full disk would. */
const fillDisk = (store: Store): Promise<void> =>
  store.write(async (tx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx.q);
    await sql.raw(`pragma max_page_count = ${rows[0]?.page_count ?? 0}`).execute(tx.q);
  });

const makeRoom = async (store: Store): Promise<void> => void (await store.write((tx) => sql`pragma max_page_count = 1000000`.execute(tx.q)));

describe('bad input', { concurrency: true }, () => {
  describe('input that is not as it should be', { concurrency: true }, () => {
    test('malformed, unknown and empty updates are skipped with a reason, and the next message is answered', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      await world.telegram.sendUnknownEvent();
      for (const content of [{}, { message: null }, { message: 'text' }, { message: { message_id: 'x' } }, { callback_query: {} }, { edited_message: [] }, { message_reaction: { chat: 1 } }, message(9100, {}), message(9101, { text: '   ' })]) world.telegram.deliver(content);
      await world.say('still there?');
      await until(() => world.shown().length === 1, 'the answer');
      assert.deepEqual(world.shown(), ['re: still there?']);
      await until(() => world.telegram.pending() === 0, 'all of them to be acknowledged');
      const skipped = inside.logLines.filter((line) => line.includes('telegram.update.skipped') || line.includes('inbound.skipped'));
      assert.equal(skipped.length, 10);
      assert.ok(skipped.every((line) => line.includes('"reason"')));
    });

    test('a text of a megabyte is kept whole and answered', async () => {
      await using world = await newWorld();
      await world.configure({ ...plainly, model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, context_length: 2_000_000 } });
      await using inside = await startInside(world);
      world.model.next(says('that was long'));
      const text = 'word '.repeat(200_000).trimEnd();
      world.telegram.deliver(message(9200, { text }));
      await until(() => world.shown().length === 1, 'the answer');
      assert.deepEqual(world.shown(), ['that was long']);
      assert.equal((await saidBy(inside.store, 'user'))[0]?.length, text.length);
    });

    test('halves of characters, zero bytes and control characters do no harm', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      world.telegram.deliver(message(9300, { text: 'a\uD83D b\uDC00 c\u0000 d\u0007 \u202Ee' }));
      await until(() => world.shown().length === 1, 'the answer');
      const [said = ''] = await saidBy(inside.store, 'user');
      assert.ok(said.isWellFormed() && !said.includes('\0'));
      await world.say('next');
      await until(() => world.shown().length === 2, 'the next answer');
    });

    test('a database of a newer version is not touched', async () => {
      await using world = await newWorld();
      const path = join(world.home, 'gateway.db');
      const store = new SqliteStore({ path, clock: systemClock, checkIntegrity: false });
      await store.write((tx) => tx.q.updateTable('meta').set({ value: '999' }).where('key', '=', 'schema_version').execute());
      await store.close();
      await assert.rejects(startInside(world), { code: 'newer', message: /written by a newer version/ });
      assert.equal(world.telegram.log.length, 0);
    });
  });

  describe('a disk that is full', { concurrency: true }, () => {
    test('while a message arrives: it is not acknowledged, comes again, and is answered once', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      await world.say('before');
      await until(() => world.shown().length === 1, 'the first answer');
      await fillDisk(inside.store);
      const text = `big ${'x'.repeat(300_000)}`;
      world.model.next(says('there is room again'));
      world.telegram.deliver(message(9400, { text }));
      await until(() => inside.logLines.some((line) => line.includes('account.disconnected')), 'the failure to be noticed');
      assert.equal(world.telegram.pending(), 1);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['before']);
      await makeRoom(inside.store);
      await until(() => world.shown().length === 2, 'the answer');
      await until(() => world.telegram.pending() === 0, 'the update to be acknowledged');
      assert.equal(world.shown()[1], 'there is room again');
      assert.deepEqual(await saidBy(inside.store, 'user'), ['before', text]);
    });

    test('while a turn ends: the answer is kept and committed when there is room, without asking the model again', async () => {
      await using world = await newWorld(plainly);
      await using inside = await startInside(world);
      const answer = Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(' ');
      const slow = heldAnswer(says(answer));
      world.model.next(slow.answer);
      await world.say('tell me a lot');
      await until(() => slow.held() === 1, 'the model to be asked');
      await fillDisk(inside.store);
      slow.open();
      await until(() => inside.logLines.some((line) => line.includes('store.write_delayed')), 'the commit to be delayed');
      assert.deepEqual(world.shown(), []);
      await makeRoom(inside.store);
      await until(async () => {
        const rows = await outboxRows(inside.store);
        return rows.length > 20 && rows.every((row) => row.state === 'sent');
      }, 'the whole answer');
      assert.equal(world.model.requests.length, 1);
      assert.deepEqual(await saidBy(inside.store, 'assistant'), [answer]);
      assert.deepEqual((await turnRows(inside.store)).map((turn) => [turn.state, turn.attempts]), [['done', 1]]);
      assert.equal(world.shown().map((text) => text.replace(/ \(\d+\/\d+\)$/, '')).join(' '), answer);
    });
  });

  describe('a model that misbehaves leads to a sentence, a line in the log, and no harm to the next message', { concurrency: true }, () => {
    const cases: readonly (readonly [string, Answer, RegExp])[] = [
      ['garbage', raw(['data: {"choices": [{]}\n\n']), /not an answer|broke in the middle/],
      ['half a stream', raw([`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half of it' } }] })}\n\n`], { then: 'cut' }), /Half of it[^]*broke in the middle/],
      ['HTML', status(200, '<html><body>Welcome to nginx</body></html>', { 'content-type': 'text/html' }), /not an answer/],
      ['a refused key', status(401, { error: { message: 'bad key' } }), /refused our key/],
      ['an error page', status(503, '<html>unavailable</html>'), /overloaded|internal error/],
      ['nothing at all', silence, /did not answer in time/],
    ];
    for (const [name, answer, sentence] of cases) {
      test(name, async () => {
        await using world = await newWorld();
        await world.configure({ ...plainly, model: { provider: 'openai', default: 'sim-1', base_url: world.model.baseUrl, api_key: 'sk-simulated-model-key', max_retries: 0, request_timeout_ms: 600_000 } });
        const clock = movingClock(1);
        await using inside = await startInside(world, { clock });
        world.model.next(answer);
        await world.say('hello');
        await until(() => world.model.requests.length === 1, 'the model to be asked');
        if (answer === silence) clock.pass(600_000);
        await until(() => world.shown().length === 1, 'a sentence');
        assert.match(world.shown()[0] ?? '', sentence);
        assert.ok(!/nginx|unavailable<|choices/.test(world.shown()[0] ?? ''), 'nothing of the raw answer');
        assert.ok(inside.logLines.some((line) => line.includes('"turn.failed"') && line.includes('"code"')));
        await world.say('next');
        await until(() => world.shown().length === 2, 'the next answer');
        assert.match(world.shown()[1] ?? '', /^re: .*next$/s);
        assert.equal(callsTo(world.telegram, '7', ['sendMessage']).length, 2);
      });
    }
  });
});
