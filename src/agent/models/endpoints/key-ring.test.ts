import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../../core/errors.ts';
import { manualClock } from '../../../lib/clock.ts';
import { newKeyRing } from './key-ring.ts';

const limited = new ModelError('rate_limited', 'slow', { retryAfterMs: 5000 });
const refused = new ModelError('auth', 'no');

test('one key is used until it rests, and again when it has rested', async () => {
  const clock = manualClock();
  const keys = newKeyRing(['a', 'b'], clock);
  assert.equal(keys.current(), 'a');
  assert.equal(keys.rest('a', limited), true);
  assert.equal(keys.current(), 'b');
  await clock.advance(5000);
  assert.equal(keys.current(), 'a');
});

test('two calls that fail with the same key put aside one key, not two', () => {
  const keys = newKeyRing(['a', 'b', 'c'], manualClock());
  keys.rest('a', refused);
  assert.equal(keys.rest('a', refused), true);
  assert.equal(keys.current(), 'b');
});

test('when all rest, the one that is ready first is tried, and nobody is promised another', () => {
  const keys = newKeyRing(['a', 'b'], manualClock());
  keys.rest('a', refused);
  assert.equal(keys.rest('b', limited), false);
  assert.equal(keys.current(), 'b');
});

test('a key does not rest for what another key would fail at too, and a single one never does', () => {
  const keys = newKeyRing(['a', 'b'], manualClock());
  assert.equal(keys.rest('a', new ModelError('overloaded', 'busy')), false);
  assert.equal(keys.current(), 'a');
  const single = newKeyRing(['a'], manualClock());
  assert.equal(single.rest('a', refused), false);
  assert.equal(single.current(), 'a');
  assert.equal(newKeyRing([], manualClock()).current(), undefined);
});
