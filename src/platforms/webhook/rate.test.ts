import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRateLimit } from './rate.ts';

const nowMs = 100_000_000;

test('a route takes so many calls a minute, and says how long the next one has to wait; another counts for itself', () => {
  const mayCall = newRateLimit();
  assert.deepEqual([mayCall('a', 2, nowMs), mayCall('a', 2, nowMs + 1000), mayCall('a', 2, nowMs + 2000), mayCall('b', 2, nowMs + 2000)], [0, 0, 58_000, 0]);
  assert.equal(mayCall('a', 2, nowMs + 60_000), 0);
});

test('calls of a time that was taken back keep nobody out', () => {
  const mayCall = newRateLimit();
  for (const each of [0, 1]) assert.equal(mayCall('a', 2, nowMs + each), 0);
  assert.equal(mayCall('a', 2, nowMs - 86_400_000), 0);
});
