import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditedAct } from '../lib/audit-log.ts';
import { manualClock } from '../lib/clock.ts';
import { newFailureLimiter } from './failure-limiter.ts';
import { noteLockouts } from './note-lockouts.ts';

test('guessing is written down once for an address, and for a few addresses in an hour', async () => {
  const clock = manualClock(0);
  const acts: AuditedAct[] = [];
  const limiter = newFailureLimiter({ clock, max: 3, windowMs: 60_000, onLocked: noteLockouts({ clock, audit: (act) => acts.push(act) })('logins') });
  for (let i = 0; i < 10; i += 1) limiter.failed('192.0.2.1');
  assert.deepEqual(acts, [{ by: 'somebody at 192.0.2.1', act: 'locked out', subject: 'too many wrong logins' }]);
  for (let host = 0; host < 200; host += 1) for (let i = 0; i < 3; i += 1) limiter.failed(`198.51.100.${host}`);
  assert.equal(acts.length, 20);
  assert.match(acts.at(-1)?.subject ?? '', /not listed/);
  await clock.advance(3_600_000);
  for (let i = 0; i < 3; i += 1) limiter.failed('203.0.113.9');
  assert.equal(acts.length, 21);
});

test('after the clock was set back guessing is written down again at once', () => {
  let nowMs = 100_000_000;
  const acts: AuditedAct[] = [];
  const note = noteLockouts({ clock: { ...manualClock(), now: () => nowMs }, audit: (act) => acts.push(act) })('logins');
  for (let host = 0; host < 30; host += 1) note(`198.51.100.${host}`);
  assert.equal(acts.length, 20);
  nowMs -= 86_400_000;
  note('203.0.113.9');
  assert.equal(acts.length, 21);
});
