import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { Answer } from '../../core/question.ts';
import { allowing, permissionQuestion } from './permission.ts';

const option = (optionId: string, kind: PermissionOption['kind']): PermissionOption => ({ optionId, kind, name: optionId });
const all = [option('yes', 'allow_once'), option('mode', 'allow_once'), option('ever', 'allow_always'), option('no', 'reject_once'), option('never', 'reject_always')];
const request = (more: Partial<RequestPermissionRequest['toolCall']>, options = all): RequestPermissionRequest => ({ sessionId: 's', toolCall: { toolCallId: 'c', title: 'Run it', ...more }, options });
const ask = (asked: RequestPermissionRequest) => permissionQuestion(asked, { agent: 'Other', timeoutMs: 300_000 });
const answered = (value: string): Answer => ({ type: 'answered', value, by: '7' });

test('every option can be chosen, and has a value of its own', () => {
  const { question, outcome } = ask(request({}));
  assert.equal(new Set(question.options.map(({ value }) => value)).size, all.length);
  assert.deepEqual(question.options.map(({ value }) => outcome(answered(value))), all.map(({ optionId }) => ({ outcome: 'selected', optionId })));
  assert.deepEqual(question.options.map(({ value }) => value.split(':')[0]), ['once', 'option', 'always', 'deny', 'never']);
});

test('whatever is no answer to this refuses', () => {
  const { outcome } = ask(request({}));
  const other = ask(request({ title: 'Run something else' })).question.options[0]?.value ?? '';
  for (const answer of [{ type: 'expired' }, { type: 'unattended' }, answered('deny:not now'), answered('once:0000'), answered(other)] satisfies Answer[]) assert.deepEqual(outcome(answer), { outcome: 'selected', optionId: 'no' });
});

test('where the agent offers no refusal, one is offered, and cancels', () => {
  const { question, outcome } = ask(request({}, [option('yes', 'allow_once')]));
  assert.deepEqual(question.options.map(({ label }) => label), ['yes', 'Deny']);
  assert.deepEqual(outcome(answered('deny')), { outcome: 'cancelled' });
});

test('what would be done is shown whole, and nothing in it can pass for something else', () => {
  const shown = (more: Partial<RequestPermissionRequest['toolCall']>): string => ask(request(more)).question.text;
  assert.match(shown({ rawInput: { command: 'rm -rf /' } }), /```\nRun it\nrm -rf \/\n```/);
  assert.match(shown({ content: [{ type: 'diff', path: '/a', newText: 'x' }] }), /Run it\n\/a:\nx/);
  assert.match(shown({ rawInput: { url: 'https://example.com' } }), /"url": "https:\/\/example\.com"/);
  assert.match(shown({ title: 'a\n```\nharmless\u202Etxt' }), /^[^`]*````\na\n```\nharmless⟨U\+202E⟩txt\n````/);
});

test('without approvals the narrowest permission is taken', () => {
  assert.deepEqual(allowing(request({})), { outcome: 'selected', optionId: 'yes' });
  assert.deepEqual(allowing(request({}, [option('ever', 'allow_always')])), { outcome: 'selected', optionId: 'ever' });
  assert.equal(allowing(request({}, [option('no', 'reject_once')])), undefined);
});
