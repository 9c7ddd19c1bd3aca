import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { markOf, saidSince, splitTranscript } from './transcript-mark.ts';

const row = (text: string): TranscriptMessage => ({ role: text.startsWith('>') ? 'assistant' : 'user', content: text });
const rows = (...texts: readonly string[]): TranscriptMessage[] => texts.map(row);
const since = (before: readonly TranscriptMessage[], now: readonly TranscriptMessage[]): readonly string[] | undefined => saidSince(now, markOf(before))?.map(({ content }) => content);

test('what people said since then is found, whether or not there was an answer', () => {
  assert.deepEqual(since(rows('a'), rows('a', '>A', 'b', 'c')), ['b', 'c']);
  assert.deepEqual(since(rows('a'), rows('a', 'b')), ['b']);
  assert.deepEqual(since(rows('a', '>A', 'b'), rows('a', '>A', 'b', '>B', 'c')), ['c']);
  assert.deepEqual(since(rows('x', '>X', 'a'), rows('>X', 'a', '>A', 'b')), ['b'], 'the beginning may have been left out');
});

test('what was added to a message for one turn does not matter', () => {
  assert.deepEqual(since(rows('a\n\n[remembered: …]'), rows('a', '>A', 'b')), ['b']);
});

test('the same words again are new words', () => {
  assert.deepEqual(since(rows('go on'), rows('go on', 'go on')), ['go on']);
  assert.deepEqual(since(rows('go on', '>done', 'go on'), rows('go on', '>done', 'go on', '>done', 'go on')), ['go on']);
});

test('a conversation that was changed is not taken for the one that was told', () => {
  assert.equal(since(rows('a', '>A', 'b'), rows('a', '>A', 'c')), undefined, 'undone');
  assert.equal(since(rows('a', '>A', 'b'), rows('a', '>A', 'b')), undefined, 'undone and said again');
  assert.equal(since(rows('a'), rows('c')), undefined);
});

test('the request is everything that people said last', () => {
  assert.deepEqual(splitTranscript(rows('a', '>A', 'b', 'c')), { before: rows('a', '>A'), asked: rows('b', 'c') });
  assert.deepEqual(splitTranscript(rows('a')), { before: [], asked: rows('a') });
});
