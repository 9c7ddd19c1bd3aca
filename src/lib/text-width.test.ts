import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutToWidth, graphemes, textWidth } from './text-width.ts';

test('letters take one column, East Asian ones two, and marks none', () => {
  for (const [text, width] of [['', 0], ['abc', 3], ['世界', 4], ['ｱ', 1], ['Ａ', 2], ['e\u0301', 1], ['한글', 4], ['각', 2], ['สวัสดี', 4], ['日本語abc', 9], ['\u200b', 0]] as const) assert.equal(textWidth(text), width, text);
});

test('an emoji takes two columns however many parts it has', () => {
  for (const text of ['😀', '👩‍👩‍👧', '🇩🇪', '👍🏽', '❤️', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿']) assert.equal(textWidth(text), 2, text);
});

test('signs that are text unless a selector says otherwise take one column', () => {
  for (const text of ['❤', '✓', '●', '⚙', '—', '…', '│', '▌', '▉']) assert.equal(textWidth(text), 1, text);
});

test('a text is cut between characters, with an ellipsis, and never wider than told', () => {
  assert.equal(cutToWidth('hello', 5), 'hello');
  assert.equal(cutToWidth('hello!', 5), 'hell…');
  assert.equal(cutToWidth('世界世界', 6), '世界…');
  assert.equal(cutToWidth('👩‍👩‍👧👩‍👩‍👧', 3), '👩‍👩‍👧…');
  assert.equal(cutToWidth('hello', 0), '');
});

test('characters are those that people see', () => {
  assert.deepEqual(graphemes('a👩‍👩‍👧e\u0301'), ['a', '👩‍👩‍👧', 'e\u0301']);
});
