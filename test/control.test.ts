import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { says, silence } from '../src/agent/models/chat-simulator.ts';
import { turnLane } from '../src/store/lanes/lanes.ts';
import { insertInboxItem } from '../src/store/messages/inbox.ts';
import { movingClock } from './support/moving-clock.ts';
import { heldAnswer, inboxRows, saidBy, streamedAnswer, transcript, turnRows } from './support/scenes.ts';
import { echo, lastUserText, newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const queueing = { display: { busy_input_mode: 'queue', busy_ack_enabled: false, streaming: false } };

/** Says something and answers what the chat is told next. */
const ask = async (world: World, text: string): Promise<string> => {
  const before = world.shown().length;
  await world.say(text);
  await until(() => world.shown().length > before, `an answer to ${text}`);
  return world.shown()[before] ?? '';
};

const lastSeen = (world: World): string => JSON.stringify(world.model.requests.at(-1)?.body.messages);

/** How the first turn ended, once it has. */
const firstEnd = async (inside: Inside): Promise<string | null | undefined> => {
  const [turn] = await turnRows(inside.store);
  return turn?.state === 'done' ? turn.exit_reason : undefined;
};

const waitingCount = async (inside: Inside): Promise<number> => (await inboxRows(inside.store)).filter((row) => row.class === 'chat' && row.state === 'waiting').length;

describe('control never waits', { concurrency: true }, () => {
  test('a model that never answers keeps neither /status nor /stop from answering, and what waited comes next', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    world.model.next(silence);
    await world.say('stuck');
    await until(() => world.model.requests.length === 1, 'the model to be asked');
    const texts = ['one', 'two', 'three', 'four', 'five'];
    for (const text of texts) await world.say(text);
    await until(async () => (await waitingCount(inside)) === 5, 'five to wait');
    const status = await ask(world, '/status');
    assert.match(status, /Waiting 5/);
    assert.match(status, /State working/);
    assert.equal(await ask(world, '/stop'), '⏹ Stopped. The 5 messages that waited come next.');
    await until(async () => (await firstEnd(inside)) === 'stopped' && world.model.requests.length > 1, 'the conversation to be free');
    await until(() => world.shown().length === 7, 'the answers to what waited');
    assert.deepEqual(world.shown().slice(2), ['re: stuck\n\none', ...texts.slice(1).map((text) => `re: ${text}`)], 'the model still sees what it was stopped at');
    assert.deepEqual(await saidBy(inside.store, 'user'), ['stuck', ...texts]);
    assert.equal(await ask(world, '/stop'), 'Nothing is running.');
  });

  test('/stop does not wait for a file that never comes; the message stays in the transcript', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    world.telegram.fail({ what: 'download', fault: { type: 'hang' } });
    await world.say('look at this', { media: { kind: 'photo', bytes: new Uint8Array([1, 2, 3]), name: 'a.jpg', mime: 'image/jpeg' } });
    await until(() => world.telegram.log.some((call) => call.method === 'getFile'), 'the file to be asked for');
    await ask(world, '/stop');
    await until(async () => (await firstEnd(inside)) === 'stopped', 'the turn to end');
    const [said = ''] = await saidBy(inside.store, 'user');
    assert.match(said, /^look at this\n\[A photo was sent but could not be loaded: I was stopped\.\]$/);
    assert.equal(world.model.requests.length, 0);
  });

  test('a newer message does not make an older one lose its file', async () => {
    await using world = await newWorld({ display: { busy_input_mode: 'interrupt', busy_ack_enabled: false, streaming: false } });
    await using inside = await startInside(world);
    world.telegram.fail({ what: 'download', fault: { type: 'delay', ms: 500 } });
    // Also when the newer message comes later than the file there is nothing said that it could come behind.
    world.model.otherwise((response, request) => (lastUserText(request.body).includes('what is this?') ? echo : silence)(response, request));
    await world.say('', { media: { kind: 'photo', bytes: new Uint8Array([0xff, 0xd8, 0xff]), name: 'a.jpg', mime: 'image/jpeg' } });
    await until(() => world.telegram.log.some((call) => call.method === 'getFile'), 'the file to be asked for');
    await world.say('what is this?');
    await until(() => world.shown().length === 1, 'an answer');
    const rows = await inside.store.read((db) => db.q.selectFrom('messages').select(['content', 'body']).where('role', '=', 'user').orderBy('id').execute());
    assert.deepEqual(rows.map((row) => row.content), ['', 'what is this?']);
    assert.match(rows[0]?.body ?? '', /attachments/);
    assert.match(lastSeen(world), /image_url/);
  });

  test('/new leaves a hanging turn behind, says what it drops, and what follows it is in the new conversation', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    world.model.next(silence);
    await world.say('stuck');
    await until(() => world.model.requests.length === 1, 'the model to be asked');
    await world.say('dropped');
    await until(async () => (await waitingCount(inside)) === 1, 'one to wait');
    await world.say('/new Fresh start -y');
    await world.say('hello again');
    await until(() => world.shown().length === 2, 'both answers');
    const [first = '', second] = world.shown();
    assert.match(first, /New conversation/);
    assert.match(first, /Not answered any more: “dropped”/);
    assert.equal(second, 're: hello again');
    assert.ok(!lastSeen(world).includes('stuck'));
    await until(async () => (await firstEnd(inside)) === 'stopped', 'the old turn to end');
    assert.equal(await ask(world, '/title'), 'This conversation is called “Fresh start”.');
  });

  test('/retry answers the last message again, /undo takes exchanges back, and both refuse while a turn runs', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    await ask(world, 'one');
    await ask(world, 'two');
    world.model.next(says('a better answer'));
    assert.equal(await ask(world, '/retry'), 'a better answer');
    assert.ok(lastSeen(world).includes('two') && !lastSeen(world).includes('re: two'));
    assert.deepEqual((await transcript(inside.store)).filter((row) => row.active === 1).map((row) => row.content), ['one', 're: one', 'two', 'a better answer']);
    assert.match(await ask(world, '/undo'), /Took back the last exchange, from “two”/);
    await ask(world, 'three');
    assert.ok(lastSeen(world).includes('re: one') && !lastSeen(world).includes('two'));
    assert.deepEqual(await saidBy(inside.store, 'user'), ['one', 'two', 'three']);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('four');
    await until(() => slow.held() === 1, 'a turn to run');
    for (const command of ['/retry', '/undo', '/branch', '/resume x']) assert.match(await ask(world, command), /still working/);
    slow.open();
    await until(() => world.shown().at(-1) === 're: four', 'the answer');
  });

  test('/branch goes on in a copy, /resume goes back, and each person has only their own conversations', async () => {
    await using world = await newWorld(queueing);
    await world.configure({ ...queueing, platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '8'] } } });
    await using inside = await startInside(world);
    await ask(world, 'one');
    assert.equal(await ask(world, '/title Trunk'), 'This conversation is now called “Trunk”.');
    assert.match(await ask(world, '/branch Twig'), /Branched with 2 messages/);
    await ask(world, 'in the twig');
    assert.ok(lastSeen(world).includes('re: one'));
    assert.match(await ask(world, '/resume Trunk'), /Back in .*Trunk/);
    await ask(world, 'in the trunk');
    assert.ok(lastSeen(world).includes('re: one') && !lastSeen(world).includes('in the twig'));
    assert.match(await ask(world, '/resume'), /Twig/);
    await world.say('/resume Trunk', { chatId: '8', senderId: '8' });
    await until(() => world.shown('8').length === 1, 'the answer to the other person');
    assert.match(world.shown('8')[0] ?? '', /No conversation of yours/);
    assert.equal((await inside.store.read((db) => db.q.selectFrom('sessions').selectAll().execute())).length, 3);
  });

  test('a new conversation in a chat of several people belongs to all of them, as the old one did', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    const topic = { chatId: '-300', chatType: 'group', threadId: '5', senderName: 'Ada' } as const;
    await world.say('hello', topic);
    await until(() => world.shown('-300').length === 1, 'an answer');
    await world.say('/new -y', topic);
    await until(() => world.shown('-300').length === 2, 'a new conversation');
    await world.say('hello again', topic);
    await until(() => world.shown('-300').length === 3, 'an answer');
    assert.deepEqual((await inside.store.read((db) => db.q.selectFrom('sessions').select('user_id').execute())).map((row) => row.user_id), [null, null]);
    assert.match(lastSeen(world), /\[Ada\] hello again/);
    assert.match(lastSeen(world), /Several people speak here/);
  });

  test('a command that is delivered again runs once', async () => {
    await using world = await newWorld(queueing);
    await using inside = await startInside(world);
    await ask(world, 'one');
    await ask(world, 'two');
    const id = await world.say('/undo');
    for (let i = 0; i < 3; i += 1) await world.telegram.redeliver(id);
    await until(() => inside.logLines.filter((line) => line.includes('"duplicate"')).length === 3, 'the repeats to be dropped');
    await ask(world, 'three');
    assert.equal(world.shown().filter((text) => text.includes('Took back')).length, 1);
    assert.deepEqual((await transcript(inside.store)).filter((row) => row.active === 1).map((row) => row.content), ['one', 're: one', 'three', 're: three']);
  });

  test('a command that was stored but not carried out before the process ended is carried out once after the start', async () => {
    await using world = await newWorld(queueing);
    {
      await using inside = await startInside(world);
      await ask(world, 'one');
      await inside.store.write(async (tx) => {
        const { session_id, session_key } = await tx.q.selectFrom('bindings').select(['session_id', 'session_key']).executeTakeFirstOrThrow();
        const event = { account: 'telegram', kind: 'message', nativeId: '77', chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false }, text: '/undo', media: [], messageId: '77', addressed: true, mentioned: false, sentAtMs: Date.now() } as const;
        await insertInboxItem(tx, { event, class: 'control', decisions: [], place: { lane: turnLane(session_id), sessionId: session_id, sessionKey: session_key } });
      });
    }
    for (let start = 1; start <= 2; start += 1) {
      await using inside = await startInside(world);
      await until(() => world.shown().length === 2, 'the answer to the command');
      assert.deepEqual((await transcript(inside.store)).map((row) => row.active), [0, 0]);
    }
    assert.match(world.shown()[1] ?? '', /Took back/);
    assert.equal(world.shown().length, 2);
  });

  test('/queue lets a message wait without interrupting; unknown and ambiguous commands are said to be so', async () => {
    await using world = await newWorld({ display: { busy_input_mode: 'interrupt', busy_ack_enabled: false, streaming: false } });
    await using _inside = await startInside(world);
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('one');
    await until(() => slow.held() === 1, 'a turn to run');
    assert.equal(await ask(world, '/queue two'), '⏳ Queued, 1 waiting.');
    assert.match(await ask(world, '/bananas'), /I do not know \/bananas/);
    assert.match(await ask(world, '/st'), /could be .*\/stop.*\/status/);
    slow.open();
    await until(() => world.shown().length === 5, 'the answers');
    assert.deepEqual(world.shown().slice(3), ['re: one', 're: two']);
  });
});

describe('deadlines', { concurrency: true }, () => {
  const timeouts = (agent: Readonly<Record<string, number>>) => ({ ...queueing, agent });

  test('a turn in which nothing moves is ended with a sentence, and the next message is answered', async () => {
    await using world = await newWorld(timeouts({ gateway_timeout: 1 }));
    const clock = movingClock(0);
    await using inside = await startInside(world, { clock });
    world.model.next(silence);
    const answer = ask(world, 'stuck');
    await until(() => world.model.requests.length === 1, 'the model to be asked');
    clock.pass(1000);
    assert.match(await answer, /^⚠️ I stopped because nothing moved for 1 s\. \(err_\w+\)$/);
    assert.equal(await ask(world, 'next'), 're: stuck\n\nnext');
    assert.deepEqual((await turnRows(inside.store)).map((turn) => turn.exit_reason), ['deadline', 'completed']);
  });

  test('a turn that goes on and on is ended with what it said and a sentence', async () => {
    await using world = await newWorld({ ...timeouts({ turn_timeout: 20 }), display: { ...queueing.display, streaming: true } });
    const clock = movingClock(0);
    await using _inside = await startInside(world, { clock });
    const endless = streamedAnswer();
    world.model.next(endless.answer);
    await world.say('go on');
    await until(endless.begun, 'the model to be asked');
    clock.pass(10_000);
    endless.write('on and on');
    await until(() => world.shown()[0]?.startsWith('on and on') === true, 'what it says so far');
    clock.pass(10_000);
    await until(() => world.shown()[0]?.includes('⚠️') === true, 'its end');
    assert.match(world.shown()[0] ?? '', /^on and on\s+⚠️ I stopped because this took longer than 20 s\./);
    assert.equal(await ask(world, 'next'), 're: next');
  });
});
