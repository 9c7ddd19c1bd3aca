import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateGate } from './rate-gate.ts';

test('an open scope has no wait, a closed one the rest of its time, and several the longest of theirs', () => {
  let now = 1000;
  const gate = new RateGate(() => now);
  assert.equal(gate.waitMs('a', 'b'), 0);
  gate.close('a', 500);
  gate.close('b', 2000);
  assert.equal(gate.waitMs('a'), 500);
  assert.equal(gate.waitMs('a', 'b'), 2000);
  now += 500;
  assert.deepEqual([gate.waitMs('a'), gate.waitMs('b')], [0, 1500]);
});

test('of two closings the later end wins, whichever comes last', () => {
  const gate = new RateGate(() => 0);
  gate.close('a', 5000);
  gate.close('a', 100);
  assert.equal(gate.waitMs('a'), 5000);
  gate.close('a', 6000);
  assert.equal(gate.waitMs('a'), 6000);
});

test('a clock that is set back lengthens no wait by what it was set back', () => {
  let now = 100_000_000;
  const gate = new RateGate(() => now);
  gate.close('a', 5000);
  now -= 86_400_000;
  assert.equal(gate.waitMs('a'), 5000);
  now += 2000;
  assert.equal(gate.waitMs('a'), 3000);
  now += 3000;
  assert.equal(gate.waitMs('a'), 0);
});
