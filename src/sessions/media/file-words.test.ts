import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileWords, sizeWords } from './file-words.ts';

test('a file is named by what it is, its name and how long it takes', () => {
  const named = [{ kind: 'voice', durationMs: 12_400 }, { kind: 'voice', durationMs: 0 }, { kind: 'audio', name: 'a "talk".mp3', durationMs: 200_000 }, { kind: 'document', name: `${'x'.repeat(79)}😀` }, { kind: 'photo' }] as const;
  assert.deepEqual(named.map(fileWords), ['voice message, 12 s', 'voice message, 1 s', String.raw`audio file "a \"talk\".mp3", 3:20 min`, `file "${'x'.repeat(79)}\uFFFD"`, 'photo']);
});

test('sizes are in units that people use', () => {
  assert.deepEqual([0, 1023, 1024, 12 * 1024, 5 * 1024 ** 2, 7.25 * 1024 ** 2, 3 * 1024 ** 4].map(sizeWords), ['0 bytes', '1023 bytes', '1.0 KB', '12 KB', '5.0 MB', '7.3 MB', '3072 GB']);
});
