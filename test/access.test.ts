import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listDenials } from '../src/store/accounts/accounts.ts';
import { pair } from '../src/store/accounts/pairing.ts';
import { heldAnswer, inboxRows, outboxRows, transcript } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const secretWords = 'the words of a stranger';
const stranger = { chatId: '99', senderId: '99', senderName: 'Person 7' } as const;
const now = () => Math.floor(Date.now() / 1000);
const person = (id: number, isBot = false) => ({ id, is_bot: isBot, first_name: `Person ${id}` });
const group = { id: -400, type: 'supergroup', title: 'Chat -400' };

const denials = async ({ store }: Inside): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {};
  for (const denial of await store.read((db) => listDenials(db, 100))) counts[denial.kind] = (counts[denial.kind] ?? 0) + denial.count;
  return counts;
};

const total = async (inside: Inside): Promise<number> => Object.values(await denials(inside)).reduce((sum, count) => sum + count, 0);

/** Nothing of what was written is anywhere in the store, and nobody but the stranger's own notice was bothered. */
const assertNoTrace = async (world: World, inside: Inside): Promise<void> => {
  assert.equal(world.model.requests.length, 0);
  assert.deepEqual(await transcript(inside.store), []);
  const stored = JSON.stringify([await inboxRows(inside.store), await outboxRows(inside.store)]);
  assert.ok(!stored.includes(secretWords), stored);
  assert.deepEqual(await inside.store.read((db) => db.q.selectFrom('sessions').select('id').execute()), []);
  assert.ok((await inboxRows(inside.store)).every((row) => row.state === 'skipped'));
};

describe('somebody who is not let in', { concurrency: true }, () => {
  test('has no effect by any kind of event, each is counted, and what they wrote is not kept', async () => {
    await using world = await newWorld();
    await using inside = await startInside(world);
    const id = await world.say(secretWords, stranger);
    await world.say('/new', stranger);
    await world.say('', { ...stranger, media: { kind: 'voice', bytes: new Uint8Array([1]), name: 'v.ogg', mime: 'audio/ogg' } });
    world.telegram.edit('99', id, `${secretWords}, edited`);
    world.telegram.react({ chatId: '99', messageId: id, senderId: '99', emoji: '👍', added: true });
    await world.telegram.press('99', id, '/stop', '99');
    world.telegram.deliver({ message: { message_id: 8001, from: person(99), chat: group, date: now(), new_chat_members: [person(98)] } });
    world.telegram.deliver({ my_chat_member: { chat: group, from: person(99), date: now(), old_chat_member: { status: 'left', user: world.telegram.bot }, new_chat_member: { status: 'member', user: world.telegram.bot } } });
    await until(async () => (await total(inside)) === 8, 'eight denials');
    assert.deepEqual(await denials(inside), { message: 3, edit: 1, reaction: 1, button: 1, join: 2 });
    await assertNoTrace(world, inside);
    assert.equal(world.telegram.log.filter((call) => call.method === 'getFile' || call.method === 'answerCallbackQuery').length, 0);
  });

  test('is told in a direct chat how to be let in, now and then, also after a restart', async () => {
    await using world = await newWorld();
    {
      await using inside = await startInside(world);
      await world.say('hello', stranger);
      await world.say('hello?', stranger);
      await until(async () => (await total(inside)) === 2 && world.shown('99').length === 1, 'the notice');
      assert.match(world.shown('99')[0] ?? '', /add your id 99 to TELEGRAM_ALLOWED_USERS/);
    }
    await using inside = await startInside(world);
    await world.say('hello??', stranger);
    await until(async () => (await total(inside)) === 3, 'the third denial');
    await world.say('hello');
    await until(() => world.shown().length === 1, 'an answer to somebody else');
    assert.equal(world.shown('99').length, 1);
  });

  test('gets silence in groups, and so do bots, whatever list names them', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '55'] } } });
    await using inside = await startInside(world);
    await world.say(secretWords, { ...stranger, chatId: '-400', chatType: 'group', mention: true });
    world.telegram.deliver({ message: { message_id: 8002, from: person(55, true), chat: { id: 55, type: 'private', first_name: 'Bot' }, date: now(), text: secretWords } });
    await until(async () => (await total(inside)) === 2, 'two denials');
    await assertNoTrace(world, inside);
    assert.deepEqual(await outboxRows(inside.store), []);
    assert.ok((await inside.store.read((db) => listDenials(db, 10))).some((denial) => denial.userId === '55' && denial.reason.includes('bots')));
  });

  test('is not counted twice for an update that is delivered again', async () => {
    await using world = await newWorld();
    await using inside = await startInside(world);
    const id = await world.say(secretWords, stranger);
    await world.telegram.redeliver(id);
    await until(() => inside.logLines.some((line) => line.includes('"duplicate"')), 'the repeat to be dropped');
    assert.equal(await total(inside), 1);
  });

  test('does not get in by the name of somebody who is', async () => {
    await using world = await newWorld();
    await using inside = await startInside(world);
    await world.say(secretWords, { ...stranger, senderName: '7' });
    await until(async () => (await total(inside)) === 1, 'the denial');
    await assertNoTrace(world, inside);
  });

  test('an empty list lets nobody in', async () => {
    await using world = await newWorld();
    await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: [] } } });
    await using inside = await startInside(world);
    await world.say(secretWords);
    await until(async () => (await total(inside)) === 1, 'the denial');
    await assertNoTrace(world, inside);
  });
});

test('a platform that echoes our token in its refusal does not get it into what we keep', async () => {
  await using world = await newWorld();
  await using inside = await startInside(world);
  const [token = ''] = world.telegram.secrets;
  world.telegram.refuseChat('7', { status: 403, description: `Forbidden: /bot${token}/sendMessage` });
  await world.say('hello');
  await until(async () => (await outboxRows(inside.store)).some((row) => row.state === 'failed'), 'the delivery to fail');
  const kept = JSON.stringify(await inside.store.read(async (db) => [await db.q.selectFrom('outbox').selectAll().execute(), await db.q.selectFrom('dead_targets').selectAll().execute(), await db.q.selectFrom('accounts').selectAll().execute()]));
  assert.ok(!kept.includes(token), 'the token is nowhere in the store');
});

describe('somebody who is shut out while their words wait', { concurrency: true }, () => {
  const guest = { chatId: '8', senderId: '8' } as const;

  test('is not answered any more, and that is counted', async () => {
    await using world = await newWorld({ display: { busy_input_mode: 'queue', busy_ack_enabled: false } });
    await using inside = await startInside(world);
    await inside.store.write((tx) => pair(tx, { account: 'telegram', userId: '8', userName: null, approvedBy: '7' }));
    const slow = heldAnswer();
    world.model.next(slow.answer);
    await world.say('slow', guest);
    await until(() => slow.held() === 1, 'a turn to run');
    await world.say('and then this', guest);
    await until(async () => (await inboxRows(inside.store)).length === 2, 'the next message to wait');
    await world.say('/pair revoke 8');
    await until(() => world.shown().some((text) => /may not talk to me any more/.test(text)), 'them to be shut out');
    slow.open();
    await until(async () => (await total(inside)) === 1, 'the denial');
    assert.deepEqual((await inboxRows(inside.store)).filter(({ chat_id }) => chat_id === '8').map(({ state, reason }) => [state, reason]), [['done', 'completed'], ['done', 'denied by default, before it was answered']]);
    assert.equal(world.model.requests.length, 1);
  });
});
