import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { newDeadline } from './deadline.ts';

const start = () => {
  const clock = manualClock(0);
  const passed: number[] = [];
  return { clock, passed, deadline: newDeadline(clock, () => passed.push(clock.now())) };
};

test('it passes once, at its last setting', async () => {
  const { clock, passed, deadline } = start();
  deadline.set(100);
  await clock.advance(90);
  deadline.set(200);
  await clock.advance(90);
  assert.deepEqual(passed, []);
  await clock.advance(500);
  assert.deepEqual(passed, [200]);
  deadline.set(900);
  await clock.advance(1000);
  assert.deepEqual(passed, [200]);
});

test('moved often, it still waits with one timer', async () => {
  const { clock, passed, deadline } = start();
  for (let at = 1; at <= 1000; at += 1) deadline.set(1000 + at);
  assert.equal(clock.waiting(), 1);
  await clock.advance(2000);
  assert.deepEqual(passed, [2000]);
});

test('it can be moved closer, taken away and brought back', async () => {
  const { clock, passed, deadline } = start();
  deadline.set(1000);
  deadline.set(50);
  assert.equal(clock.waiting(), 1);
  deadline.set(Number.POSITIVE_INFINITY);
  await clock.advance(5000);
  assert.deepEqual(passed, []);
  deadline.set(6000);
  await clock.advance(1000);
  assert.deepEqual(passed, [6000]);
});

test('once cleared nothing happens and nothing waits', async () => {
  const { clock, passed, deadline } = start();
  deadline.set(100);
  deadline.clear();
  deadline.set(200);
  await clock.advance(1000);
  assert.deepEqual(passed, []);
  assert.equal(clock.waiting(), 0);
});
