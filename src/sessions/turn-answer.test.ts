import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import type { ExitReason } from '../core/turn.ts';
import { answerOf, isSilent } from './turn-answer.ts';
import type { TurnEnd } from './turn-answer.ts';

const target = sampleTarget();
const long = 'This is long enough to be worth showing although it was cut off in the middle of it.';

const shown = (end: TurnEnd, preview?: string): string | undefined => answerOf(end, { target, preview })?.text;

test('an answer is shown as it is, and nothing is shown for nothing', () => {
  assert.deepEqual(answerOf({ reason: 'completed', text: 'Yes' }, { target, preview: undefined }), { target, text: 'Yes' });
  assert.equal(shown({ reason: 'completed', text: ' \n' }), undefined);
  assert.equal(shown({ reason: 'limit', text: 'as far as I got' }), 'as far as I got');
});

test('a silence is not shown; only the whole answer counts as one', () => {
  assert.ok(isSilent({ reason: 'completed', text: '[SILENT]' }));
  assert.equal(shown({ reason: 'completed', text: '[SILENT]' }), undefined);
  assert.ok(!isSilent({ reason: 'completed', text: '[SILENT] is a word' }));
  assert.ok(!isSilent({ reason: 'stopped', text: '[SILENT]' }));
});

test('what was cut short is shown with the reason if it says something, or if it stands in the chat already', () => {
  assert.equal(shown({ reason: 'stopped', text: long }), `${long}\n\n— stopped`);
  assert.equal(shown({ reason: 'interrupted', text: long }), `${long}\n\n— interrupted by your next message`);
  for (const reason of ['stopped', 'interrupted'] as const) {
    assert.equal(shown({ reason, text: 'Hm' }), undefined);
    assert.match(shown({ reason, text: 'Hm' }, '5') ?? '', /^Hm\n\n— /);
  }
});

test('a failure says what happened, with its id, below what was said', () => {
  assert.equal(shown({ reason: 'model_error', text: '', sentence: 'It broke.', errorId: 'err_1' }), '⚠️ It broke. (err_1)');
  assert.equal(shown({ reason: 'deadline', text: 'Half', sentence: 'Too long.' }), 'Half\n\n⚠️ Too long.');
  assert.equal(shown({ reason: 'internal_error', text: '' }), '⚠️ Something went wrong.');
});

test('a preview always gets an end, whatever the reason', () => {
  const reasons: readonly ExitReason[] = ['completed', 'silent', 'interrupted', 'stopped', 'deadline', 'limit', 'model_error', 'internal_error', 'suspended', 'set_aside', 'cut_off'];
  for (const reason of reasons) {
    const answer = answerOf({ reason, text: '' }, { target, preview: '5' });
    assert.equal(answer?.finishes, '5', reason);
    assert.notEqual(answer.text.trim(), '', reason);
  }
  assert.equal(shown({ reason: 'completed', text: 'NO_REPLY' }, '5'), '—');
});
