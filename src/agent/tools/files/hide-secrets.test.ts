import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideSecrets } from './hide-secrets.ts';

const redact = (text: string): string => text.replaceAll(/BEGIN[^]*?END/g, 'KEY ***').replaceAll('hunter22', '***');

test('secrets are hidden and every line keeps its number', () => {
  assert.deepEqual(hideSecrets(['a', 'pass: hunter22', 'b'], redact), ['a', 'pass: ***', 'b']);
  assert.deepEqual(hideSecrets([], redact), []);
});

test('a secret over several lines leaves a gap and moves nothing after it', () => {
  assert.deepEqual(hideSecrets(['a', 'BEGIN', 'x', 'y', 'END', 'b', 'c'], redact), ['a', 'KEY ***', undefined, undefined, undefined, 'b', 'c']);
  assert.deepEqual(hideSecrets(['BEGIN', 'x', 'END'], redact), ['KEY ***', undefined, undefined]);
});

test('a redactor that makes more lines than there were shows no more of them', () => {
  assert.deepEqual(hideSecrets(['a'], () => 'a\nb'), ['a']);
});
