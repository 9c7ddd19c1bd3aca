import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calls, says } from '../src/agent/models/chat-simulator.ts';
import { movingClock } from './support/moving-clock.ts';
import { heldAnswer, inboxRows, saidBy, streamedAnswer, turnRows } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const mode = (busy_input_mode: 'interrupt' | 'queue' | 'steer', more: Readonly<Record<string, unknown>> = {}) => ({ display: { busy_input_mode, busy_ack_enabled: false, streaming: false, ...more } });

const waiting = async ({ store }: Pick<Inside, 'store'>): Promise<readonly string[]> => (await inboxRows(store)).filter((row) => row.state === 'waiting').map((row) => (JSON.parse(row.event) as { text: string }).text);

const stored = (inside: Inside, count: number) => until(async () => (await inboxRows(inside.store)).length >= count, `${count} messages to be stored`);

const person = { id: 7, is_bot: false, first_name: 'Person 7' };
const direct = { id: 7, type: 'private', first_name: 'Person 7' };

/** A photo of person 7 as a part of an album, on the wire. */
const albumPart = (id: number, caption?: string) => ({
  message: {
    message_id: id,
    from: person,
    chat: direct,
    date: Math.floor(Date.now() / 1000),
    media_group_id: 'album-1',
    photo: [{ file_id: 'file_1', file_unique_id: 'u1', width: 800, height: 600, file_size: 4 }],
    ...(caption !== undefined && { caption }),
  },
});

/** Somebody who is not let in leaves a photo, so that there is one to refer to. */
const leavePhoto = (world: World) => world.say('', { chatId: '99', senderId: '99', media: { kind: 'photo', bytes: new Uint8Array([137, 80, 78, 71]), name: 'a.jpg', mime: 'image/jpeg' } });

describe('a busy conversation', { concurrency: true }, () => {
  describe('what is said while the agent works', { concurrency: true }, () => {
    test('interrupts it: what nobody was shown does not count as said, so the next turn answers both', async () => {
      await using world = await newWorld(mode('interrupt'));
      await using inside = await startInside(world);
      const partial = streamedAnswer();
      world.model.next(partial.answer);
      await world.say('first');
      await until(partial.begun, 'the model to be asked');
      partial.write('Hm. ');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await world.say('second');
      await until(() => world.shown().length === 1, 'one answer');
      const messages = world.model.requests[1]?.body.messages.slice(1).map(({ role, content }) => [role, content]);
      assert.deepEqual(messages, [['user', 'first\n\nsecond']]);
      assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['interrupted', 'completed']);
    });

    test('interrupts it: what it had said so far is kept, and the next turn sees everything', async () => {
      await using world = await newWorld(mode('interrupt'));
      await using inside = await startInside(world);
      const partial = streamedAnswer();
      world.model.next(partial.answer);
      await world.say('first');
      await until(partial.begun, 'the model to be asked');
      const half = `Half of an answer, ${'long enough to be worth keeping. '.repeat(4)}`.trimEnd();
      partial.write(half);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await world.say('second');
      await until(() => world.shown().length === 2, 'both answers');
      assert.deepEqual(world.shown(), [`${half}\n\n— interrupted by your next message`, 're: second']);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['first', 'second']);
      assert.deepEqual(await saidBy(inside.store, 'assistant'), [half, 're: second']);
      assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['interrupted', 'completed']);
      const seen = JSON.stringify(world.model.requests.at(-1)?.body.messages);
      assert.ok(seen.includes('first') && seen.includes('Half of an answer') && seen.includes('second'));
    });

    test('waits in queue mode: each message gets its own answer, in order', async () => {
      await using world = await newWorld(mode('queue'));
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      for (const text of ['one', 'two', 'three']) await world.say(text);
      await until(async () => slow.held() === 1 && (await waiting(inside)).length === 2, 'two to wait');
      slow.open();
      await until(() => world.shown().length === 3, 'three answers');
      assert.deepEqual(world.shown(), ['re: one', 're: two', 're: three']);
    });

    test('is handed to the running turn in steer mode, in order, and gets no answer of its own', async () => {
      await using world = await newWorld(mode('steer'));
      await using inside = await startInside(world);
      const slow = heldAnswer(calls({ id: 'call_1', name: 'current_time', arguments: '{}' }));
      world.model.next(slow.answer);
      await world.say('what time is it?');
      await until(() => slow.held() === 1, 'the model to be asked');
      await world.say('in Berlin');
      await world.say('and in Tokyo');
      await stored(inside, 3);
      slow.open();
      await until(() => world.shown().length === 1, 'one answer');
      await until(async () => (await inboxRows(inside.store)).every((row) => row.state === 'done'), 'all to be done');
      assert.equal((await turnRows(inside.store)).length, 1);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['what time is it?', 'in Berlin', 'and in Tokyo']);
      const seen = JSON.stringify(world.model.requests.at(-1)?.body.messages);
      assert.ok(seen.indexOf('in Berlin') !== -1 && seen.indexOf('in Berlin') < seen.indexOf('and in Tokyo'));
    });

    test('waits for the next turn in steer mode when the running one makes no further call', async () => {
      await using world = await newWorld(mode('steer'));
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('one');
      await until(() => slow.held() === 1, 'the model to be asked');
      await world.say('two');
      await stored(inside, 2);
      slow.open();
      await until(() => world.shown().length === 2, 'two answers');
      assert.deepEqual(world.shown(), ['re: one', 're: two']);
    });

    test('is acknowledged once per turn, and not when it comes in the same breath', async () => {
      await using world = await newWorld(mode('queue', { busy_ack_enabled: true }));
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('one');
      await until(() => slow.held() === 1, 'the model to be asked');
      await world.say('in the same breath');
      await stored(inside, 2);
      await inside.store.write((tx) => tx.q.updateTable('turns').set((eb) => ({ started_at: eb('started_at', '-', 5000) })).execute());
      await world.say('later');
      await world.say('later still');
      await stored(inside, 4);
      await until(() => world.shown().length === 1, 'the acknowledgement');
      slow.open();
      await until(() => world.shown().length === 5, 'all answers');
      assert.match(world.shown()[0] ?? '', /when I am done/);
      assert.deepEqual(world.shown().slice(1), ['re: one', 're: in the same breath', 're: later', 're: later still']);
    });

    test('is refused visibly when too much waits already, and nothing that waits is touched', async () => {
      await using world = await newWorld({ ...mode('queue'), agent: { queue_limit: 2 } });
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('one');
      await until(() => slow.held() === 1, 'the model to be asked');
      for (const text of ['two', 'three', 'four', '/queue five']) await world.say(text);
      await until(() => world.shown().length === 2, 'two refusals');
      assert.ok(world.shown().every((text) => text.includes('did not take this one')));
      assert.deepEqual(await waiting(inside), ['two', 'three']);
      slow.open();
      await until(() => world.shown().length === 5, 'the answers');
      assert.deepEqual(world.shown().slice(2), ['re: one', 're: two', 're: three']);
      assert.equal((await inboxRows(inside.store)).find((row) => row.event.includes('"four"'))?.state, 'skipped');
    });
  });

  describe('what belongs together', { concurrency: true }, () => {
    test('an album is one message with all its files', async () => {
      await using world = await newWorld(mode('queue'));
      await leavePhoto(world);
      const clock = movingClock(0);
      await using inside = await startInside(world, { storeClock: clock });
      world.telegram.deliver(albumPart(9001, 'our holiday'));
      world.telegram.deliver(albumPart(9002));
      world.telegram.deliver(albumPart(9003));
      await until(async () => (await waiting(inside)).length === 3, 'its parts to be stored');
      clock.pass(60_000);
      await until(() => world.shown().length === 1, 'one answer');
      assert.equal((await turnRows(inside.store)).length, 1);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['our holiday']);
      const [row] = await inside.store.read((db) => db.q.selectFrom('messages').select('body').where('role', '=', 'user').execute());
      assert.equal((JSON.parse(row?.body ?? '{}') as { attachments: unknown[] }).attachments.length, 3);
    });

    test('a text that the client has split is one message, also when the process ends before the rest comes', async () => {
      await using world = await newWorld(mode('queue'));
      const [head, tail] = ['a'.repeat(4090), 'and the rest'];
      // Sent in the same moment, whenever they arrive.
      const date = Math.floor(Date.now() / 1000);
      const piece = (message_id: number, text: string) => ({ message: { message_id, from: person, chat: direct, date, text } });
      const clock = movingClock(0);
      {
        await using first = await startInside(world, { storeClock: clock });
        world.telegram.deliver(piece(9500, head));
        await stored(first, 1);
      }
      // Longer than a running gateway would have waited for the rest.
      clock.pass(60_000);
      world.telegram.deliver(piece(9501, tail));
      await using second = await startInside(world, { storeClock: clock });
      await stored(second, 2);
      clock.pass(60_000);
      await until(() => world.shown().length >= 1, 'an answer');
      assert.deepEqual(await saidBy(second.store, 'user'), [`${head}\n${tail}`]);
      assert.equal((await turnRows(second.store)).length, 1);
    });
  });

  describe('an edit', { concurrency: true }, () => {
    test('of a message that still waits replaces it', async () => {
      await using world = await newWorld(mode('queue'));
      await using inside = await startInside(world);
      const slow = heldAnswer();
      world.model.next(slow.answer);
      await world.say('one');
      const id = await world.say('tow');
      await until(async () => slow.held() === 1 && (await waiting(inside)).length === 1, 'the second to wait');
      world.telegram.edit('7', id, 'two');
      await stored(inside, 3);
      slow.open();
      await until(() => world.shown().length === 2, 'two answers');
      assert.deepEqual(world.shown(), ['re: one', 're: two']);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['one', 'two']);
    });

    test('of an answered message is a new message, and an edit that changes nothing is nothing, again and again', async () => {
      await using world = await newWorld(mode('queue'));
      await using inside = await startInside(world);
      const id = await world.say('one');
      await until(() => world.shown().length === 1, 'the first answer');
      world.telegram.edit('7', id, 'one');
      world.telegram.edit('7', id, 'uno');
      await until(() => world.shown().length === 2, 'the answer to the edit');
      world.telegram.edit('7', id, 'uno');
      world.telegram.edit('7', id, 'one');
      await until(() => world.shown().length === 3, 'the answer to the edit back');
      await stored(inside, 5);
      assert.deepEqual(await saidBy(inside.store, 'user'), ['one', '[Edited message] uno', '[Edited message] one']);
      assert.equal(world.model.requests.length, 3);
    });

    test('into a command is carried out at once, in place of the message that waited', async () => {
      await using world = await newWorld(mode('queue'));
      await using inside = await startInside(world);
      const stuck = heldAnswer();
      world.model.next(stuck.answer);
      await world.say('one');
      const id = await world.say('stop');
      await until(async () => stuck.held() === 1 && (await waiting(inside)).length === 1, 'the second to wait');
      world.telegram.edit('7', id, '/stop');
      await until(() => world.shown().length === 1, 'the answer to the command');
      assert.deepEqual(world.shown(), ['⏹ Stopped.']);
      await until(async () => (await turnRows(inside.store))[0]?.state === 'done', 'the turn to end');
      assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['stopped']);
      assert.equal(world.model.requests.length, 1);
    });
  });

  test('what waits from two chats in one conversation is answered in each of them', async () => {
    await using world = await newWorld(mode('interrupt'));
    await using inside = await startInside(world);
    const group = { chatId: '-500', chatType: 'group' } as const;
    await world.say('hello');
    await until(() => world.shown().length === 1, 'the first answer');
    const [session] = await inside.store.read((db) => db.q.selectFrom('sessions').select('id').execute());
    await world.say(`/resume ${session?.id}`, group);
    await until(() => world.shown('-500').length === 1, 'the other chat to follow');
    const slow = heldAnswer(says('slow'));
    world.model.next(slow.answer);
    await world.say('/busy queue');
    await until(() => world.shown().length === 2, 'the mode to be set');
    await world.say('busy now');
    await until(() => slow.held() === 1, 'the turn to run');
    await world.say('from the direct chat');
    await world.say('from the group', group);
    await until(async () => (await waiting(inside)).length === 2, 'both to wait');
    await world.say('/busy interrupt');
    await until(() => world.shown().length === 3, 'the mode to be set');
    slow.open();
    await until(() => world.shown('-500').length === 2 && world.shown().length === 5, 'an answer in each chat');
    assert.deepEqual(world.shown().slice(3), ['slow', 're: from the direct chat']);
    assert.equal(world.shown('-500')[1], 're: from the group');
  });
});
