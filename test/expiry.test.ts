import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepProcess } from '../src/store/agents/processes.ts';
import { movingClock } from './support/moving-clock.ts';
import { lastUserText, newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

const hourMs = 3_600_000;

const settingsOf = (world: World) => ({
  display: { busy_ack_enabled: false, streaming: false },
  session_reset: { mode: 'idle', idle_minutes: 60 },
  memory: { review_min_turns: 1 },
  platforms: { telegram: { ...world.telegram.options, poll_timeout_seconds: 1, allowed_users: ['7'], typing_indicator: false } },
});

const sessionsOf = (inside: Inside) => inside.store.read((db) => db.q.selectFrom('sessions').select(['id', 'parent_id', 'end_reason']).where('account', '=', 'telegram').orderBy('created_at').execute());

const reviewsIn = (world: World): number => world.model.requests.filter(({ body }) => !/^hello|^again/.test(lastUserText(body))).length;

test('a conversation to which nobody comes back is ended and looked through by the gateway itself; the next message begins another, and says so once', async () => {
  await using world = await newWorld();
  await world.configure(settingsOf(world));
  const clock = movingClock(100);
  await using inside = await startInside(world, { clock, storeClock: clock });
  await world.say('hello');
  await until(() => world.shown().length === 1, 'the answer');
  await until(async () => (await inside.store.read((db) => db.q.selectFrom('turns').select('state').execute())).every(({ state }) => state === 'done'), 'the turn to end');
  assert.equal(reviewsIn(world), 0);
  clock.jump(2 * hourMs);
  await until(() => inside.logLines.some((line) => line.includes('session.expired')), 'the conversation to end');
  await until(() => inside.logLines.some((line) => line.includes('memory.reviewed')), 'the conversation to be looked through');
  assert.deepEqual((await sessionsOf(inside)).map(({ end_reason }) => end_reason), ['idle']);
  assert.deepEqual(world.shown(), ['re: hello']);
  await world.say('again');
  await until(() => world.shown().length === 3, 'a new conversation');
  const [first, second] = await sessionsOf(inside);
  assert.equal(second?.parent_id, first?.id);
  assert.match(world.shown()[1] ?? '', new RegExp(`A new conversation has begun, after 60 quiet minutes.*/resume ${first?.id}`));
  assert.equal(world.shown()[2], 're: again');
  assert.equal(reviewsIn(world), 1);
  assert.equal(inside.logLines.filter((line) => line.includes('session.expired')).length, 1);
});

test('a message that arrives in the moment of the end begins the next conversation, is answered once, and ends the one before it once', async () => {
  await using world = await newWorld();
  await world.configure(settingsOf(world));
  const clock = movingClock(100);
  await using inside = await startInside(world, { clock, storeClock: clock });
  for (let round = 1; round <= 5; round += 1) {
    const before = world.shown().length;
    await world.say(`again ${round}`);
    const expected = round === 1 ? 1 : 2;
    await until(() => world.shown().length === before + expected, 'the answer');
    assert.equal(world.shown().at(-1), `re: again ${round}`);
    await until(async () => (await inside.store.read((db) => db.q.selectFrom('turns').select('state').execute())).every(({ state }) => state === 'done'), 'the turn to end');
    clock.jump(2 * hourMs);
  }
  await until(() => inside.logLines.filter((line) => line.includes('memory.reviewed')).length === 5, 'each to be looked through');
  const sessions = await sessionsOf(inside);
  assert.deepEqual(sessions.map(({ end_reason }) => end_reason), Array.from({ length: 5 }, () => 'idle'));
  assert.deepEqual(sessions.slice(1).map(({ parent_id }) => parent_id), sessions.slice(0, -1).map(({ id }) => id));
  assert.equal(world.shown().filter((text) => text.includes('A new conversation has begun')).length, 4);
});

test('a message goes on with a conversation whose program still runs, until that has run for as long as the rule says', async () => {
  await using world = await newWorld();
  await world.configure({ ...settingsOf(world), session_reset: { mode: 'idle', idle_minutes: 60, bg_process_max_age_hours: 3 } });
  const clock = movingClock(100);
  await using inside = await startInside(world, { clock, storeClock: clock });
  await world.say('hello');
  await until(() => world.shown().length === 1, 'the answer');
  const [session] = await sessionsOf(inside);
  await inside.store.write((tx) => keepProcess(tx, { id: 'p1', owner: 'elsewhere', sessionId: session?.id ?? '', command: 'sleep', cwd: '/', notify: false, watch: null }));
  clock.jump(2 * hourMs);
  await world.say('again');
  await until(() => world.shown().length === 2, 'the next answer');
  assert.deepEqual([world.shown()[1], (await sessionsOf(inside)).length], ['re: again', 1]);
  await until(async () => (await inside.store.read((db) => db.q.selectFrom('turns').select('state').execute())).every(({ state }) => state === 'done'), 'the turn to end');
  clock.jump(2 * hourMs);
  await world.say('again later');
  await until(() => world.shown().length === 4, 'a new conversation');
  assert.match(world.shown()[2] ?? '', /A new conversation has begun/);
  assert.equal((await sessionsOf(inside)).length, 2);
});

test('one that has ended while the rules were different is continued', async () => {
  await using world = await newWorld();
  await world.configure(settingsOf(world));
  const clock = movingClock(100);
  {
    await using inside = await startInside(world, { clock, storeClock: clock });
    await world.say('hello');
    await until(() => world.shown().length === 1, 'the answer');
    clock.jump(2 * hourMs);
    await until(() => inside.logLines.some((line) => line.includes('session.expired')), 'the conversation to end');
  }
  await world.configure({ ...settingsOf(world), session_reset: { mode: 'none' } });
  await using inside = await startInside(world, { clock, storeClock: clock });
  await world.say('again');
  await until(() => world.shown().length === 2, 'the answer');
  assert.deepEqual(world.shown(), ['re: hello', 're: again']);
  assert.deepEqual((await sessionsOf(inside)).map(({ end_reason }) => end_reason), [null]);
});
