import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from './retry-after.ts';

const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0);
const read = (headers: Record<string, string>): number | undefined => retryAfterMs(new Headers(headers), nowMs);

test('seconds, fractions of seconds, milliseconds and dates are understood', () => {
  assert.equal(read({ 'retry-after': '7' }), 7000);
  assert.equal(read({ 'retry-after': '0.25' }), 250);
  assert.equal(read({ 'retry-after-ms': '1500', 'retry-after': '9' }), 1500);
  assert.equal(read({ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }), 30_000);
});

test('a date in the past means now; nonsense and nothing mean nothing', () => {
  assert.equal(read({ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }), 0);
  for (const value of ['-1', 'soon', '', '1e3', 'NaN']) assert.equal(read({ 'retry-after': value }), undefined, value);
  assert.equal(read({ 'retry-after-ms': 'x', 'retry-after': '1' }), 1000);
  assert.equal(read({}), undefined);
});
