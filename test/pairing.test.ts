import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newWorld, startInside, until } from './support/whole.ts';

const stranger = { chatId: '99', senderId: '99', senderName: 'Grace' } as const;
const codeIn = (text: string | undefined): string => /\b[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}\b/.exec(text ?? '')?.[0] ?? '';

test('a stranger gets a code, a listed person approves it, and the stranger is heard from then on, also after a restart', async () => {
  await using world = await newWorld();
  {
    await using inside = await startInside(world);
    await world.say('hello', stranger);
    await until(() => world.shown('99').length === 1, 'the code');
    const code = codeIn(world.shown('99')[0]);
    assert.equal(code.length, 8);
    await world.say(`/pair approve ${code.toLowerCase()}`);
    await until(() => world.shown().length === 1, 'the approval');
    assert.match(world.shown()[0] ?? '', /^✅ 99 Grace \(telegram\) may talk to me now/);
    const kept = () => inside.store.read((db) => db.q.selectFrom('outbox').select('payload').execute());
    await until(async () => !JSON.stringify(await kept()).includes(code), 'a code that was shown not to be kept');
    assert.ok(!inside.logLines.some((line) => line.includes(code)), 'no code in the log');
    await world.say('hello again', stranger);
    await until(() => world.shown('99').length === 2, 'an answer');
    assert.equal(world.shown('99')[1], 're: hello again');
  }
  await using _inside = await startInside(world);
  await world.say('still here?', stranger);
  await until(() => world.shown('99').length === 3, 'an answer after the restart');
});

test('a listed person makes a code, and whoever sends it is let in, once', async () => {
  await using world = await newWorld();
  await using _inside = await startInside(world);
  await world.say('/pair');
  await until(() => world.shown().length === 1, 'the code');
  const code = codeIn(world.shown()[0]);
  await world.say(code, stranger);
  await until(() => world.shown('99').length === 1, 'a welcome');
  assert.match(world.shown('99')[0] ?? '', /^✅ You are in/);
  await world.say('hello', stranger);
  await until(() => world.shown('99').length === 2, 'an answer');
  assert.equal(world.model.requests.length, 1);
  await world.say(code, { chatId: '98', senderId: '98' });
  await until(() => world.shown('98').length === 1, 'an answer to the second');
  assert.match(world.shown('98')[0] ?? '', /^I do not know you yet/);
});

test('somebody who was let in by a code cannot let others in, and loses access when it is taken back', async () => {
  await using world = await newWorld();
  await using _inside = await startInside(world);
  await world.say('/pair');
  await until(() => world.shown().length === 1, 'the code');
  await world.say(codeIn(world.shown()[0]), stranger);
  await until(() => world.shown('99').length === 1, 'a welcome');
  await world.say('/pair', stranger);
  await until(() => world.shown('99').length === 2, 'a refusal');
  assert.equal(world.shown('99')[1], '⛔ /pair is for admins here. /help shows the commands.');
  await world.say('/pair revoke 99');
  await until(() => world.shown().length === 2, 'the revocation');
  await world.say('hello?', stranger);
  await until(() => world.shown('99').length === 3, 'a code again');
  assert.equal(world.model.requests.length, 0);
});

test('with an admin list, others run only what is listed for them', async () => {
  await using world = await newWorld();
  await world.configure({ platforms: { telegram: { ...world.telegram.options, allowed_users: ['7', '8'], allow_admin_from: ['7'], user_allowed_commands: ['status'] } } });
  await using _inside = await startInside(world);
  const other = { chatId: '8', senderId: '8' };
  await world.say('/new', other);
  await world.say('/status', other);
  await world.say('/whoami', other);
  await world.say('/help', other);
  await until(() => world.shown('8').length === 4, 'four answers');
  assert.match(world.shown('8')[0] ?? '', /^⛔ \/new is for admins here/);
  assert.match(world.shown('8')[1] ?? '', /^Session /);
  assert.match(world.shown('8')[2] ?? '', /Role user/);
  assert.ok(!(world.shown('8')[3] ?? '').includes('/new'));
  await world.say('/new');
  await until(() => world.shown().length === 1, 'an answer to the admin');
  assert.match(world.shown()[0] ?? '', /^✨ New conversation/);
});
