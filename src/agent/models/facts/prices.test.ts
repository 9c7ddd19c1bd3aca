import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUsage, noUsage } from '../../../core/transcript.ts';
import type { Usage } from '../../../core/transcript.ts';
import { costOf, withCost } from './prices.ts';

const usage = (more: Partial<Usage>): Usage => ({ ...noUsage, ...more });
const million = 1_000_000;

test('fresh, cached and written tokens have their own price, reasoning is output', () => {
  const used = usage({ inputTokens: 3 * million, cacheReadTokens: million, cacheWriteTokens: million, outputTokens: million, reasoningTokens: 500_000 });
  const { usd, status } = costOf(used, 'claude-sonnet-4-5');
  assert.equal(status, 'estimated');
  assert.ok(Math.abs(usd - (3 + 0.3 + 3.75 + 15)) < 1e-9, String(usd));
});

test('a model is known wherever it is sold and whatever its date; an unknown one costs nobody knows what', () => {
  const used = usage({ inputTokens: million });
  assert.equal(costOf(used, 'anthropic/claude-opus-4.5').usd, 5);
  assert.equal(costOf(used, 'claude-opus-4-5-20251101').usd, 5);
  assert.equal(costOf(used, 'claude-opus-4-1-20250805').usd, 15);
  assert.equal(costOf(used, 'gpt-5-mini').usd, 0.25);
  assert.deepEqual(costOf(used, 'gpt-500'), { usd: 0, status: 'unknown' });
  assert.deepEqual(withCost(used, 'gpt-500', {}), used);
});

test('long calls cost what long calls cost', () => {
  assert.equal(costOf(usage({ inputTokens: 200_000 }), 'gemini-2.5-pro').usd, 0.25);
  assert.equal(costOf(usage({ inputTokens: 400_000 }), 'gemini-2.5-pro').usd, 1);
});

test('what the endpoint says goes before the owner’s prices, and those before the table; a model at home is free', () => {
  const used = usage({ inputTokens: million });
  const prices = { 'GPT-5.2': { input: 7, output: 7 } };
  assert.equal(costOf(used, 'gpt-5.2-2025-12-11', { prices }).usd, 7);
  assert.deepEqual(costOf({ ...used, cost: { usd: 0.5, status: 'actual' } }, 'gpt-5.2', { prices }), { usd: 0.5, status: 'actual' });
  assert.deepEqual(costOf(used, 'gpt-oss:20b', { local: true }), { usd: 0, status: 'estimated' });
});

test('costs add up; a sum is only as sure as its parts', () => {
  const actual = usage({ inputTokens: 1, cost: { usd: 1, status: 'actual' } });
  const estimated = usage({ inputTokens: 1, cost: { usd: 2, status: 'estimated' } });
  assert.deepEqual(addUsage(noUsage, actual).cost, { usd: 1, status: 'actual' });
  assert.deepEqual(addUsage(actual, actual).cost, { usd: 2, status: 'actual' });
  assert.deepEqual(addUsage(actual, estimated).cost, { usd: 3, status: 'estimated' });
  assert.deepEqual(addUsage(actual, usage({ inputTokens: 1 })).cost, { usd: 1, status: 'estimated' });
  assert.equal('cost' in addUsage(noUsage, usage({ inputTokens: 1 })), false);
});
