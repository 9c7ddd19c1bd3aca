import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldAnswer } from './support/scenes.ts';
import { lastUserText, newWorld, startInside, until } from './support/whole.ts';

test('work beside a conversation is answered in its chat while the conversation goes on, and is no part of it', async () => {
  await using world = await newWorld();
  await using _inside = await startInside(world);
  const held = heldAnswer();
  await world.say('hello');
  await until(() => world.shown().includes('re: hello'), 'an answer');
  world.model.next(held.answer);
  await world.say('/background count to a million');
  await until(() => held.held() === 1, 'the work to begin');
  await world.say('meanwhile');
  await until(() => world.shown().includes('re: meanwhile'), 'an answer meanwhile');
  held.open();
  await until(() => world.shown().includes('re: count to a million'), 'the answer of the work');
  await world.say('and now?');
  await until(() => world.shown().includes('re: and now?'), 'an answer afterwards');
  const last = world.model.requests.at(-1)?.body ?? assert.fail('the model was asked');
  assert.equal(JSON.stringify(last).includes('million'), false);
  await world.say('/btw what was my first word?');
  await until(() => world.shown().includes('re: what was my first word?'), 'an answer to the side question');
  const aside = world.model.requests.at(-1)?.body ?? assert.fail('the model was asked');
  assert.ok(JSON.stringify(aside).includes('hello') && lastUserText(aside) === 'what was my first word?');
});

test('work beside a conversation survives the gateway', async () => {
  await using world = await newWorld({ agent: { restart_drain_timeout: 0 } });
  const held = heldAnswer();
  {
    await using inside = await startInside(world);
    world.model.next(held.answer);
    await world.say('/bg paint the shed');
    await until(() => held.held() === 1, 'the work to begin');
    await inside.stop();
  }
  assert.equal(world.shown().some((text) => text.includes('re:')), false);
  await using _next = await startInside(world);
  await until(() => world.shown().includes('re: paint the shed'), 'the answer after the next start');
});
