import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownReasoning } from './shown-reasoning.ts';

test('what was thought is a quotation, cut unless all of it is wanted', () => {
  assert.equal(shownReasoning(undefined, { full: true }), '');
  assert.equal(shownReasoning(' First.\nThen. ', { full: false }), '> 💭 First.\n> Then.');
  const long = 'x'.repeat(20_000);
  assert.equal(shownReasoning(long, { full: false }), `> 💭 ${'x'.repeat(1500)}…`);
  assert.equal(shownReasoning(long, { full: true }), `> 💭 ${long}`);
  assert.equal(shownReasoning('x'.repeat(60_000), { full: true }).length, 50_000 + '> 💭 …'.length);
});
