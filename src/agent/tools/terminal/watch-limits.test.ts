import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeHit, newHitBreaker, noHits } from './watch-limits.ts';
import type { WatchCounts } from './watch-limits.ts';

/** What becomes of hits at these seconds. */
const verdicts = (...seconds: readonly number[]): string => {
  let counts: WatchCounts = noHits;
  return seconds
    .map((second) => {
      const verdict = judgeHit(counts, second * 1000);
      ({ counts } = verdict);
      return verdict.type === 'tell' && verdict.last ? 'last' : verdict.type;
    })
    .join(' ');
};

test('two hits are at least fifteen seconds apart', () => {
  assert.equal(verdicts(0, 1, 14, 15, 29, 30), 'tell drop drop tell drop tell');
});

test('three gaps in a row with dropped hits end the watch; a quiet gap forgives', () => {
  assert.equal(verdicts(0, 1, 15, 16, 30, 31, 45), 'tell drop tell drop tell drop end');
  assert.equal(verdicts(0, 1, 15, 16, 30, 50, 51, 65, 66, 80), 'tell drop tell drop tell tell drop tell drop tell');
});

test('the eighth hit is the last', () => {
  assert.equal(verdicts(0, 20, 40, 60, 80, 100, 120, 140), 'tell tell tell tell tell tell tell last');
});

test('all processes together are held back for a while when they speak up too often', () => {
  const breaker = newHitBreaker();
  for (let i = 0; i < 15; i += 1) assert.equal(breaker.allows(i * 100), true);
  assert.equal(breaker.allows(2000), false);
  assert.equal(breaker.allows(31_000), false);
  assert.equal(breaker.allows(32_001), true);
});

test('hits that come slowly are never held back', () => {
  const breaker = newHitBreaker();
  for (let i = 0; i < 100; i += 1) assert.equal(breaker.allows(i * 1000), true);
});
