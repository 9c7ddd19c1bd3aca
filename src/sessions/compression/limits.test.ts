import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compressionOptions } from './compression.test-support.ts';
import { roomLimits, summaryTokens } from './limits.ts';
import type { ReaderFacts, RoomLimits } from './limits.ts';

const limits = (reader: Partial<ReaderFacts> = {}, written: Readonly<Record<string, unknown>> = {}): RoomLimits =>
  roomLimits(compressionOptions(written), { model: 'acme/large-2', systemBytes: 0, toolBytes: 0, ...reader });

test('the answer has its room first, and a window under 512k is used to three quarters at least', () => {
  assert.deepEqual([limits().budgetTokens, limits().thresholdTokens], [128_000 - 8192, Math.floor((128_000 - 8192) * 0.75)]);
  assert.equal(limits({}, { threshold: 0.9 }).thresholdTokens, Math.floor((128_000 - 8192) * 0.9));
  assert.equal(limits({ contextTokens: 520_000, outputTokens: 20_000 }).thresholdTokens, 250_000);
});

test('a huge window is not filled beyond 256k', () => {
  assert.equal(limits({ contextTokens: 2_000_000 }).thresholdTokens, 256_000);
});

test('the longest name that fits decides, and is taken at its word', () => {
  const written = { model_thresholds: { acme: 0.6, 'large-2': 0.3, other: 0.9 } };
  assert.equal(limits({ outputTokens: 28_000 }, written).thresholdTokens, 30_000);
  assert.equal(limits({ outputTokens: 28_000, model: 'acme/small' }, written).thresholdTokens, 60_000);
  assert.equal(limits({ outputTokens: 28_000, model: 'else' }, written).thresholdTokens, 75_000);
});

test('prompt and tools are counted; where they leave little, the conversation still gets half of it', () => {
  assert.equal(limits({ outputTokens: 28_000, systemBytes: 40_000, toolBytes: 20_000 }).thresholdTokens, 60_000);
  const crowded = limits({ outputTokens: 28_000, systemBytes: 300_000, toolBytes: 60_000 });
  assert.deepEqual([crowded.fixedTokens, crowded.budgetTokens, crowded.thresholdTokens], [90_000, 10_000, 5_000]);
  assert.equal(limits({ contextTokens: 1024, systemBytes: 1_000_000 }).budgetTokens, 0);
});

test('the newest part keeps its share of the threshold, and the beginning half as much', () => {
  const { thresholdTokens, tailTokens, headTokens } = limits({}, { target_ratio: 0.5 });
  assert.deepEqual([tailTokens, headTokens], [Math.floor(thresholdTokens / 2), Math.floor(Math.floor(thresholdTokens / 2) / 2)]);
});

test('a summary is a fifth of what it stands for, within what the window allows', () => {
  assert.equal(summaryTokens(20_000, 200_000), 4_000);
  assert.equal(summaryTokens(1_000, 200_000), 2_000);
  assert.equal(summaryTokens(90_000, 1_000_000), 12_000);
  assert.equal(summaryTokens(90_000, 128_000), 6_400);
  assert.equal(summaryTokens(4_000, 4_096), 256);
});
