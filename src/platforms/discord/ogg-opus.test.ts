import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOggOpus } from './ogg-opus.ts';
import { oggOpus } from './ogg-opus.test-support.ts';

test('a recording knows how long it is, and where it is loud', () => {
  const recording = readOggOpus(oggOpus(2));
  assert.equal(recording?.durationSeconds, 2);
  const waveform = [...(recording?.waveform ?? [])];
  assert.equal(waveform.length, 100);
  assert.ok(waveform.slice(0, 50).every((height) => height < 30) && waveform.slice(50).every((height) => height === 255));
});

test('a long one is drawn in 256 steps', () => {
  assert.equal(readOggOpus(oggOpus(4))?.waveform.length, 200);
  assert.ok((readOggOpus(oggOpus(6))?.waveform.length ?? 0) <= 256);
});

test('anything else is no recording', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('ID3 mp3'), Buffer.from('OggS'), oggOpus(1).subarray(0, 40), Buffer.concat([Buffer.from('x'), oggOpus(1)])]) assert.equal(readOggOpus(bytes), undefined);
});
