import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../../core/errors.ts';
import type { ModelErrorCode, ModelErrorFacts } from '../../../core/errors.ts';
import { afterStep, firstTry, recover } from './recovery.ts';
import type { Tried } from './recovery.ts';

const step = (code: ModelErrorCode, facts: ModelErrorFacts = {}, more: { tried?: Partial<Tried>; hasFallback?: boolean; maxRetries?: number } = {}): string => {
  const { tried = {}, hasFallback = false, maxRetries = 3 } = more;
  const recovery = recover(new ModelError(code, 'x', facts), { ...firstTry, ...tried }, { maxRetries, hasFallback, random: () => 0 });
  return recovery.step === 'repeat' ? `repeat after ${recovery.delayMs}` : recovery.step;
};

test('what may pass is repeated with growing delays, as often as allowed', () => {
  assert.equal(step('server_error'), 'repeat after 1000');
  assert.equal(step('server_error', {}, { tried: { attempts: 3 } }), 'repeat after 4000');
  assert.equal(step('server_error', {}, { tried: { attempts: 4 } }), 'give_up');
  assert.equal(step('server_error', {}, { maxRetries: 0 }), 'give_up');
});

test('the server decides how long to wait, up to ten minutes; with somebody else to ask nobody waits longer than one', () => {
  assert.equal(step('rate_limited', { retryAfterMs: 600_000 }), 'repeat after 600000');
  assert.equal(step('rate_limited', { retryAfterMs: 600_001 }), 'give_up');
  assert.equal(step('rate_limited', { retryAfterMs: 60_000 }, { hasFallback: true }), 'repeat after 60000');
  assert.equal(step('rate_limited', { retryAfterMs: 60_001 }, { hasFallback: true }), 'fall_back');
});

test('another key comes first, then the same call, then somebody else', () => {
  assert.equal(step('rate_limited', { freshKey: true }, { hasFallback: true }), 'next_key');
  assert.equal(step('auth', { freshKey: true }), 'next_key');
  assert.equal(step('auth', { freshKey: true }, { tried: { keys: 10 } }), 'give_up');
  assert.equal(step('auth', {}, { hasFallback: true }), 'fall_back');
  assert.equal(step('overloaded', {}, { tried: { attempts: 4 }, hasFallback: true }), 'fall_back');
});

test('refused reasoning is left out once', () => {
  assert.equal(step('stale_reasoning'), 'without_reasoning');
  assert.equal(step('stale_reasoning', {}, { tried: { withoutReasoning: true } }), 'give_up');
  assert.equal(step('stale_reasoning', {}, { tried: { withoutReasoning: true }, hasFallback: true }), 'fall_back');
});

test('what only a shorter conversation helps, and an abort, are left to the caller', () => {
  for (const code of ['context_overflow', 'payload_too_large', 'aborted'] as const) assert.equal(step(code, {}, { hasFallback: true }), 'give_up', code);
});

test('each step counts for itself, and somebody else begins anew', () => {
  const tried = afterStep(afterStep(afterStep(firstTry, { step: 'repeat', delayMs: 1 }), { step: 'next_key' }), { step: 'without_reasoning' });
  assert.deepEqual(tried, { attempts: 2, keys: 2, withoutReasoning: true });
  assert.deepEqual(afterStep(tried, { step: 'fall_back' }), firstTry);
});
