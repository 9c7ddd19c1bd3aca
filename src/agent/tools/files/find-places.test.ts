import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findPlaces, replaceSpots } from './find-places.ts';

const replaced = (text: string, old: string, replacement: string, all = false): string => {
  const found = findPlaces(text, { old, replacement, all });
  return found.type === 'found' ? `${found.how === undefined ? '' : `[${found.how}] `}${replaceSpots(text, found.spots)}` : found.type;
};

test('an exact match is used as it is', () => {
  assert.equal(replaced('one two three', 'two', '2'), 'one 2 three');
  assert.equal(replaced('a $& b', '$&', '$1'), 'a $1 b');
});

test('several matches are never guessed between, whatever was overlooked to find them', () => {
  assert.deepEqual(findPlaces('x\ny\nx\n', { old: 'x', replacement: 'z', all: false }), { type: 'ambiguous', count: 2, lines: [1, 3] });
  assert.equal(replaced('aaa', 'aa', 'b'), 'ambiguous', 'overlapping places are two places');
  assert.equal(replaced('  f()\n  g()\n\n    f()\n    g()\n', 'f()\ng()', 'h()'), 'ambiguous');
  assert.equal(replaced('x = 1 \ny\nx = 1\t\ny\n', 'x = 1\ny\n', 'z\n'), 'ambiguous');
});

test('every place is changed when that was asked for', () => {
  assert.equal(replaced('a-a-a', 'a', 'b', true), 'b-b-b');
  assert.equal(replaced('aaa', 'aa', 'b', true), 'ba');
  assert.equal(replaced('x \ny\nx\t\ny\n', 'x\ny\n', 'z\n', true), '[white space at line ends] z\nz\n');
});

test('white space at line ends, inside lines, and around the text is overlooked', () => {
  assert.equal(replaced('if (a) {  \n  b\n}\n', 'if (a) {\n  b\n}', 'c'), '[white space at line ends] c\n');
  assert.equal(replaced('a  =   1;\nb\n', 'a = 1;\nb', 'c'), '[white space inside lines] c\n');
  assert.equal(replaced('one\ntwo\nthree\n', '\n\ntwo\n\n', '2'), '[blank lines around it] one\n2\nthree\n');
  assert.equal(replaced('f(a,\n    b)\n', 'f(a, b)', 'g()'), '[line breaks and white space] g()\n');
});

test('typographic quotes and spaces are overlooked', () => {
  assert.equal(replaced('say “hi” – now', 'say "hi" - now', 'x'), '[typographic quotes, dashes and spaces] x');
});

test('another indentation is overlooked, and the new text gets that of the file', () => {
  assert.equal(replaced('class A:\n    def f(self):\n        return 1\n', 'def f(self):\n    return 1\n', 'def f(self):\n    if x:\n        return 2\n'), '[indentation] class A:\n    def f(self):\n        if x:\n            return 2\n');
  assert.equal(replaced('{\n\ta();\n\t\tb();\n}\n', '  a();\n    b();', '  a();\n    c();'), '[indentation] {\n\ta();\n\t\tc();\n}\n');
});

test('an indentation without a rule is no match: flattened text would lose its structure', () => {
  assert.equal(replaced('if a:\n    b\n        c\n', 'x\nif a:\nb\nc', 'd'), 'missing');
  assert.equal(replaced('if a:\n    b\n', 'if a:\nb\n', 'if c:\nd\n').startsWith('[indentation]'), false);
});

test('escapes that were written twice are undone, in the new text too', () => {
  assert.equal(replaced('a "b"\nc\n', 'a \\"b\\"\\nc', 'd\\ne'), '[escaped characters] d\ne\n');
});

test('between an equal first and last line small differences are overlooked, larger ones are not', () => {
  const text = 'begin\n  total = compute_the_sum(items, rate)\nend\n';
  assert.equal(replaced(text, 'begin\n  total = compute_the_sums(items, rate)\nend', 'x'), '[small differences between its first and last line] x\n');
  assert.equal(replaced(text, 'begin\n  something else\nend', 'x'), 'missing');
});

test('what is missing comes with the nearest line', () => {
  assert.deepEqual(findPlaces('alpha\nconst value = 1;\n', { old: 'const valeu = 2;', replacement: '', all: false }), { type: 'missing', nearest: { line: 2, text: 'const value = 1;' } });
  assert.deepEqual(findPlaces('alpha\n', { old: 'zzzzzz', replacement: '', all: false }), { type: 'missing' });
});

test('text that is made to be slow, or has too many places, is given up soon', () => {
  assert.equal(findPlaces('a'.repeat(300_000), { old: 'a', replacement: 'b', all: true }).type, 'too_many');
  assert.equal(findPlaces('\n'.repeat(150_000), { old: `${'\n'.repeat(5000)}x`, replacement: 'b', all: false }).type, 'missing');
});

test('whatever the text, one found place is replaced and nothing else changes', () => {
  const word = fc.constantFrom('a', 'b', ' ', '  ', '\n', '\t', '"', '“', 'long word', '\\n');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), fc.array(word, { minLength: 1, maxLength: 6 }), (pieces, part) => {
      const text = pieces.join('');
      const found = findPlaces(text, { old: part.join(''), replacement: 'NEW', all: false });
      if (found.type !== 'found') return;
      assert.equal(found.spots.length, 1);
      const { from, to } = found.spots[0]!;
      const out = replaceSpots(text, found.spots);
      assert.ok(out.startsWith(text.slice(0, from)) && out.endsWith(text.slice(to)) && out.includes('NEW'));
    }),
  );
});
