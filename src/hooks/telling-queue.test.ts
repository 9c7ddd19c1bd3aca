import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { TellingQueue } from './telling-queue.ts';

test('things are told one after another, in order', async () => {
  const told: number[] = [];
  const queue = new TellingQueue<number>({ clock: manualClock(), most: 10, tell: async (item) => void told.push(item), onDropped: () => assert.fail() });
  for (let i = 1; i <= 5; i += 1) queue.add(i);
  await queue.close(0);
  assert.deepEqual(told, [1, 2, 3, 4, 5]);
});

test('what comes just when there is nothing more to do is not forgotten', async () => {
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const told: number[] = [];
    const queue = new TellingQueue<number>({ clock: manualClock(), most: 10, tell: async (item) => void told.push(item), onDropped: () => assert.fail(`after ${ticks} ticks`) });
    queue.add(1);
    for (let i = 0; i < ticks; i += 1) await Promise.resolve();
    queue.add(2);
    await queue.close(0);
    assert.deepEqual(told, [1, 2]);
  }
});

test('closing waits for a while, then ends what is under way and counts the rest as dropped', async () => {
  const clock = manualClock();
  let dropped = 0;
  let aborted = false;
  const queue = new TellingQueue<number>({
    clock,
    most: 10,
    tell: (_item, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(void (aborted = true)))),
    onDropped: (count) => void (dropped += count),
  });
  for (let i = 0; i < 3; i += 1) queue.add(i);
  const closing = queue.close(1_000);
  await clock.advance(999);
  assert.equal(aborted, false);
  await clock.advance(1);
  await closing;
  assert.deepEqual([aborted, dropped], [true, 2]);
  queue.add(9);
  assert.equal(queue.waiting, 0, 'nothing is taken any more');
});
