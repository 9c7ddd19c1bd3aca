import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newThinkFilter } from './think-filter.ts';

const filter = (pieces: readonly string[]): { text: string; reasoning: string } => {
  const out = { text: '', reasoning: '' };
  const think = newThinkFilter();
  const emit = (type: 'text' | 'reasoning', delta: string): void => {
    assert.notEqual(delta, '');
    out[type] += delta;
  };
  for (const piece of pieces) think.push(piece, emit);
  think.end(emit);
  return out;
};

test('a block at the start is thought, not said, and the blank lines after it go with it', () => {
  assert.deepEqual(filter(['<think>Hm, 2+2.</think>\n\nFour.']), { text: 'Four.', reasoning: 'Hm, 2+2.' });
  assert.deepEqual(filter(['<thinking>x</thinking>y']), { text: 'y', reasoning: 'x' });
});

test('a later block counts at the start of a line only', () => {
  assert.deepEqual(filter(['One.\n<think>more</think>\nTwo.']), { text: 'One.\nTwo.', reasoning: 'more' });
  const mention = 'The tag `<think>` opens a block, and </think> closes it.';
  assert.deepEqual(filter([mention]), { text: mention, reasoning: '' });
});

test('a block that never ends is thought to the end', () => {
  assert.deepEqual(filter(['<think>on and on </thi']), { text: '', reasoning: 'on and on </thi' });
});

test('what only looked like a tag is said', () => {
  assert.deepEqual(filter(['<thin', 'g>']), { text: '<thing>', reasoning: '' });
  assert.deepEqual(filter(['<th']), { text: '<th', reasoning: '' });
  assert.deepEqual(filter(['<', '<think>a</think>b']), { text: '<<think>a</think>b', reasoning: '' });
});

const part = fc.constantFrom('<think>', '</think>', '<thinking>', '</thinking>', '<', 'th', 'ink>', '\n', ' ', 'a', '<b>', '</');

test('the pieces in which the text comes never change what is said and what is thought', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 15 }), fc.array(fc.nat(60), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join('');
      const positions = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
      const pieces = positions.slice(1).map((end, index) => text.slice(positions[index], end));
      assert.deepEqual(filter(pieces), filter([text]));
      assert.deepEqual(filter([...text]), filter([text]));
    }),
    { numRuns: 3000 },
  );
});

test('text without tags passes unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
      const plain = pieces.map((piece) => piece.replaceAll('<', ''));
      assert.deepEqual(filter(plain), { text: plain.join(''), reasoning: '' });
    }),
  );
});
