import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownContextTokens, mostOutputTokens, seesImages, thinkingOf, thinksBeforeSpeaking } from './known-models.ts';

test('the longest beginning counts, and only up to the end of a part', () => {
  assert.equal(knownContextTokens('gpt-4'), 8192);
  assert.equal(knownContextTokens('gpt-4-1106-preview'), 8192, 'gpt-4.1 is another model');
  assert.equal(knownContextTokens('gpt-4.1-mini'), 1_047_576);
  assert.equal(knownContextTokens('gpt-4o-2024-11-20'), 128_000);
  assert.equal(knownContextTokens('openai/gpt-5.4-mini'), 400_000);
  assert.equal(knownContextTokens('models/gemini-2.5-pro'), 1_048_576);
  assert.equal(knownContextTokens('qwen3-coder:30b'), 262_144);
  assert.equal(knownContextTokens('something-else'), undefined);
});

test('who sees and who thinks is known where it is known', () => {
  assert.deepEqual([seesImages('claude-haiku-4-5'), seesImages('o3-mini'), seesImages('something-else')], [true, false, undefined]);
  assert.deepEqual([thinksBeforeSpeaking('gpt-5-mini'), thinksBeforeSpeaking('gpt-4o'), thinksBeforeSpeaking('something-else')], [true, false, false]);
});

test('an endpoint that insists on a limit gets one that the model can keep', () => {
  assert.deepEqual([mostOutputTokens('claude-opus-5-5'), mostOutputTokens('claude-3-5-haiku-latest'), mostOutputTokens('something-else')], [32_000, 8192, 8192]);
});

test('every Claude, also one to come, is told to think in the way of its version', () => {
  const ways: readonly (readonly [string, string])[] = [
    ['claude-3-7-sonnet-20250219', 'budget'],
    ['claude-sonnet-4-20250514', 'budget'],
    ['claude-opus-4-5', 'budget'],
    ['claude-haiku-4-5-20251001', 'budget'],
    ['claude-opus-4-6', 'adaptive'],
    ['claude-opus-5-20260724', 'adaptive'],
    ['anthropic/claude-fable-5.1', 'bound'],
    ['claude-opus-7', 'bound'],
    ['deepseek-v4-pro', 'adaptive'],
  ];
  for (const [model, way] of ways) assert.equal(thinkingOf(model), way, model);
});
