import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundResult, maxResultChars } from './bound-result.ts';

test('a short result is untouched, a long one keeps its beginning and its end and says what is missing', () => {
  assert.equal(boundResult('short'), 'short');
  const long = `begin${'x'.repeat(200_000)}end`;
  const bounded = boundResult(long);
  assert.ok(bounded.length <= maxResultChars);
  assert.ok(bounded.startsWith('begin') && bounded.endsWith('end'));
  const missing = Number(/\[… (\d+) characters left out …\]/.exec(bounded)?.[1]);
  assert.equal(bounded.replace(/\n\n\[… \d+ characters left out …\]\n\n/, '').length + missing, long.length);
});

test('whatever is cut, the limit holds and no character is broken', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 100, max: 300 }), (text, max) => {
      const bounded = boundResult(text, max);
      assert.ok(bounded.length <= Math.max(max, 0));
      assert.ok(bounded.isWellFormed());
    }),
  );
});
