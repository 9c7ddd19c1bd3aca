import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/support/samples.ts';
import { voiceModeOf, voiceModes, wantsSpeech } from './wants-speech.ts';

const written = sampleEvent();
const spoken = sampleEvent({ media: [{ kind: 'voice', mime: 'audio/ogg', ref: {} }] });
const song = sampleEvent({ media: [{ kind: 'audio', mime: 'audio/mpeg', ref: {} }] });

test('who speaks hears the answer, unless the conversation or the configuration says otherwise', () => {
  assert.deepEqual([{}, { voice: 'off' as const }, { voice: 'all' as const }].map((settings) => voiceModeOf(settings, { auto_tts: true })), ['voice_only', 'off', 'all']);
  assert.deepEqual([{}, { voice: 'voice_only' as const }].map((settings) => voiceModeOf(settings, { auto_tts: false })), ['off', 'voice_only']);
});

test('only what is said to us asks for speech, and nothing does where nobody has said anything', () => {
  const wanted = voiceModes.map((mode) => [written, spoken, song, undefined].map((event) => wantsSpeech(mode, event)));
  assert.deepEqual(wanted, [[false, false, false, false], [false, true, false, false], [true, true, true, false]]);
});
