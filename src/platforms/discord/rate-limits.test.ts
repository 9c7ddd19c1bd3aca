import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRateLimits } from './rate-limits.ts';

const route = 'POST /channels/{channel}/messages';

const empty = (bucket: string, seconds: number) => ({ 'x-ratelimit-bucket': bucket, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': String(seconds) });

test('a bucket that is empty is closed until it fills, for its channel and for every route that shares it', () => {
  let nowMs = 1000;
  const limits = newRateLimits(() => nowMs);
  limits.learn('POST /channels/{channel}/typing', '1', { 'x-ratelimit-bucket': 'b', 'x-ratelimit-remaining': '4', 'x-ratelimit-reset-after': '5' });
  limits.learn(route, '1', empty('b', 2.5));
  assert.deepEqual(limits.check(route, '1'), { retryAfterMs: 2500, scope: 'chat' });
  assert.deepEqual(limits.check('POST /channels/{channel}/typing', '1')?.scope, 'chat');
  assert.equal(limits.check(route, '2'), undefined);
  assert.equal(limits.check('GET /gateway/bot', ''), undefined);
  nowMs += 2500;
  assert.equal(limits.check(route, '1'), undefined);
});

test('what has no bucket is limited by its own name, and answers without limits close nothing', () => {
  const limits = newRateLimits(() => 0);
  limits.learn(route, '1', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1' });
  limits.learn(route, '2', {});
  assert.deepEqual([limits.check(route, '1')?.retryAfterMs, limits.check(route, '2')], [1000, undefined]);
});

test('a limit on everything covers everything, and the later end wins', () => {
  let nowMs = 0;
  const limits = newRateLimits(() => nowMs);
  limits.close(5000);
  limits.close(1000);
  assert.deepEqual(limits.check(route, '1'), { retryAfterMs: 5000, scope: 'account' });
  nowMs = 5000;
  assert.equal(limits.check(route, '1'), undefined);
});

test('a clock that is set back closes nothing until the old time comes again', () => {
  let nowMs = 100_000_000;
  const limits = newRateLimits(() => nowMs);
  limits.learn(route, '1', empty('b', 2));
  limits.close(1000);
  nowMs -= 86_400_000;
  assert.deepEqual(limits.check(route, '1'), { retryAfterMs: 1000, scope: 'account' });
  nowMs += 1000;
  assert.deepEqual(limits.check(route, '1'), { retryAfterMs: 2000, scope: 'chat' });
  nowMs += 2000;
  assert.equal(limits.check(route, '1'), undefined);
});
