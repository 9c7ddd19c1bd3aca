import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newWorld, startInside, until } from './support/whole.ts';

test('a message is answered in its chat', async () => {
  await using world = await newWorld();
  await using _inside = await startInside(world);
  await world.say('hello');
  await until(() => world.shown().length === 1, 'an answer');
  assert.deepEqual(world.shown(), ['re: hello']);
  assert.deepEqual(world.telegram.violations(), []);
});
