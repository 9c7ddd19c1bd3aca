import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranscriptMessage } from '../core/transcript.ts';
import { alternate } from './alternation.ts';
import { resumeTranscript } from './resume-transcript.ts';

const call = (id: string) => ({ id, name: 'write_file', arguments: '{}' });
const asked: TranscriptMessage = { role: 'user', content: 'do it' };
const called: TranscriptMessage = { role: 'assistant', content: '', toolCalls: [call('a'), call('b'), call('c')] };
const done = (id: string): TranscriptMessage => ({ role: 'tool', content: 'ok', toolCallId: id, toolName: 'write_file' });

test('calls without a result get one that says they were interrupted, in the order of the calls', () => {
  const added = resumeTranscript([asked, called, done('b')]);
  assert.deepEqual(added.map((row) => row.toolCallId), ['a', 'c']);
  for (const row of added) {
    assert.equal(row.role, 'tool');
    assert.equal(row.toolName, 'write_file');
    assert.match(row.content, /restart.*not run again/s);
  }
});

test('with the results appended the transcript needs no further repair', () => {
  const transcript = [asked, called, done('a')];
  const whole = [...transcript, ...resumeTranscript(transcript)];
  assert.deepEqual(alternate(whole), whole);
  assert.deepEqual(resumeTranscript(whole), []);
});

test('a complete transcript, an answered one and an empty one need nothing', () => {
  assert.deepEqual(resumeTranscript([]), []);
  assert.deepEqual(resumeTranscript([asked]), []);
  assert.deepEqual(resumeTranscript([asked, { role: 'assistant', content: 'hi' }]), []);
  assert.deepEqual(resumeTranscript([asked, called, done('a'), done('b'), done('c')]), []);
});

test('only the last assistant message counts: an older gap was left behind on purpose', () => {
  assert.deepEqual(resumeTranscript([asked, called, asked, { role: 'assistant', content: 'hi' }]), []);
});
