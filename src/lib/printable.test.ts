import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { printable } from './printable.ts';

test('whatever a terminal would obey is taken out', () => {
  assert.equal(printable('a\u001b[31mred\u001b[0m b'), 'ared b');
  assert.equal(printable('title \u001b]0;evil\u0007 end'), 'title  end');
  assert.equal(printable('\u001b]8;;https://evil.example\u0007ok\u001b]8;;\u0007'), 'ok');
  assert.equal(printable('bell\u0007 back\b\u009b2J del\u007f'), 'bell back del');
  assert.equal(printable('abc\u202edcba\u202c'), 'abcdcba');
});

test('newlines and tabs stay, and every kind of line end is one', () => {
  assert.equal(printable('a\r\nb\rc\nd\te\u2028f'), 'a\nb\nc\nd\te\nf');
});

test('words in any script and emoji are left alone', () => {
  const text = 'Grüße 世界 👩‍👩‍👧 שלום e\u0301 – “x”';
  assert.equal(printable(text), text);
});

test('no control character ever gets through', () => {
  const anything = fc.array(fc.oneof(fc.constantFrom('\u001b', '[', ']', '\u0007', '\u009b', 'm', ';', '0', '\n', '\t', 'x', '\u001b[', '\u0090'), fc.string({ unit: 'binary' }))).map((parts) => parts.join(''));
  fc.assert(fc.property(anything, (text) => !/[[\p{Cc}]--[\n\t]]/v.test(printable(text))), { numRuns: 500 });
});
