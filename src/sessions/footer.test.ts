import assert from 'node:assert/strict';
import { test } from 'node:test';
import { footerFields, footerLine } from './footer.ts';

test('the line says what is wanted, in that order', () => {
  const facts = { model: 'vendor/some-model', contextTokens: 12_800, contextLimit: 128_000, folder: '/home/ada/work', userFolder: '/home/ada', inputTokens: 12_345, outputTokens: 67, costUsd: 0.123, durationMs: 61_000 };
  assert.equal(footerLine(footerFields, facts), 'some-model · 10% · ~/work · 12k in, 67 out · $0.12 · 1m 1s');
  assert.equal(footerLine(['duration', 'model'], { ...facts, durationMs: 2_400 }), '2s · some-model');
});

test('what is not known is left out, and nothing known is an empty line', () => {
  assert.equal(footerLine(footerFields, { model: 'm', contextTokens: 5 }), 'm');
  assert.equal(footerLine(footerFields, {}), '');
});

test('a context beyond its limit is full, and a small cost is not nothing', () => {
  assert.equal(footerLine(['context_pct', 'cost'], { contextTokens: 300, contextLimit: 200, costUsd: 0.0004 }), '100% · <$0.01');
});

test('only the person’s own folder becomes ~', () => {
  const at = (folder: string) => footerLine(['cwd'], { folder, userFolder: '/home/ada' });
  assert.deepEqual([at('/home/ada'), at('/home/adamant'), at('/srv')], ['~', '/home/adamant', '/srv']);
});
