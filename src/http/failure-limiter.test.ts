import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { newFailureLimiter } from './failure-limiter.ts';

test('wrong attempts of one network count together, whichever of its addresses they come from', () => {
  const limiter = newFailureLimiter({ clock: manualClock(), max: 3, windowMs: 1000 });
  for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3']) limiter.failed(address);
  assert.equal(limiter.waitMs('2001:db8::4'), 1000);
  assert.equal(limiter.waitMs('2001:db8:0:1::1'), 0);
});

test('a right attempt clears the count, and so does time', async () => {
  const clock = manualClock();
  const limiter = newFailureLimiter({ clock, max: 2, windowMs: 1000 });
  limiter.failed('1.2.3.4');
  limiter.succeeded('1.2.3.4');
  limiter.failed('1.2.3.4');
  assert.equal(limiter.waitMs('1.2.3.4'), 0);
  limiter.failed('1.2.3.4');
  await clock.advance(400);
  assert.equal(limiter.waitMs('1.2.3.4'), 600);
  await clock.advance(600);
  assert.equal(limiter.waitMs('1.2.3.4'), 0);
});

test('it remembers a bounded number of addresses', () => {
  const limiter = newFailureLimiter({ clock: manualClock(), max: 1, keep: 2 });
  for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) limiter.failed(address);
  assert.deepEqual(['1.1.1.1', '2.2.2.2', '3.3.3.3'].map((address) => limiter.waitMs(address) > 0), [false, true, true]);
});

test('an IPv4 address is one however it is written', () => {
  const limiter = newFailureLimiter({ clock: manualClock(), max: 4 });
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7']) limiter.failed(address);
  for (const address of ['192.0.2.7', '::ffff:c000:0207']) assert.ok(limiter.waitMs(address) > 0, address);
  assert.equal(limiter.waitMs('192.0.2.8'), 0);
});

test('nobody waits until a time comes again that was taken back', () => {
  let nowMs = 100_000_000;
  const limiter = newFailureLimiter({ clock: { ...manualClock(), now: () => nowMs }, max: 1, windowMs: 1000 });
  limiter.failed('1.2.3.4');
  assert.equal(limiter.waitMs('1.2.3.4'), 1000);
  nowMs -= 86_400_000;
  assert.equal(limiter.waitMs('1.2.3.4'), 0);
});
