import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { brokenCall, isRefusedWith, refusal } from './errors.ts';

const send = { method: 'chat.postMessage', once: true, scope: 'chat' } as const;
const look = { method: 'users.info', once: false, scope: 'account' } as const;

for (const [error, code] of [
  ['invalid_auth', 'bad_credential'],
  ['token_revoked', 'bad_credential'],
  ['account_inactive', 'bad_credential'],
  ['not_in_channel', 'forbidden'],
  ['restricted_action', 'forbidden'],
  ['channel_not_found', 'chat_gone'],
  ['is_archived', 'chat_gone'],
  ['message_not_found', 'not_found'],
  ['thread_not_found', 'not_found'],
  ['file_not_found', 'not_found'],
  ['msg_too_long', 'too_long'],
  ['msg_blocks_too_long', 'too_long'],
  ['invalid_blocks', 'bad_format'],
  ['ratelimited', 'rate_limited'],
  ['service_unavailable', 'unavailable'],
  ['invalid_name', 'unsupported'],
  ['something_new', 'rejected'],
] as const) {
  test(`${error} is ${code}`, () => assert.equal(refusal({ error }, send).code, code));
}

test('an error after which something may have happened is an unknown outcome of a send, and nothing else', () => {
  for (const error of ['internal_error', 'fatal_error']) assert.deepEqual([refusal({ error }, send).code, refusal({ error }, look).code], ['unknown_outcome', 'unavailable']);
});

test('a missing scope is named, with what to do', () => {
  const { code, message } = refusal({ error: 'missing_scope', needed: 'files:write', provided: 'chat:write' }, send);
  assert.equal(code, 'rejected');
  assert.match(message, /add the scope files:write under OAuth & Permissions/);
  assert.equal(refusal({ error: 'missing_scope', needed: 'connections:write' }, look).code, 'bad_credential');
});

test('whoever is not in a channel is told how to get in', () => assert.match(refusal({ error: 'not_in_channel' }, send).message, /\/invite/));

test('a limit carries its time and whom it covers', () => {
  assert.deepEqual([refusal({ error: 'ratelimited' }, send, 3000).facts.retryAfterMs, refusal({ error: 'ratelimited' }, send, 3000).facts.scope], [3000, 'chat']);
  assert.equal(refusal({ error: 'ratelimited' }, look).facts.scope, 'account');
});

test('what was missing is told', () => {
  assert.equal(refusal({ error: 'thread_not_found' }, send).facts.missing, 'thread');
  assert.equal(refusal({ error: 'message_not_found' }, send).facts.missing, 'message');
});

test("Slack's own word can be asked for", () => {
  assert.ok(isRefusedWith(refusal({ error: 'already_reacted' }, send), 'no_reaction', 'already_reacted'));
  assert.ok(!isRefusedWith(refusal({ error: 'invalid_auth' }, send), 'already_reacted'));
  assert.ok(!isRefusedWith(new PlatformError('rejected', 'x'), 'x'));
});

test('a call that never became a connection is unavailable, also a send; one that broke later is unknown', () => {
  const never = new AbortController().signal;
  const failed = (code: string): Error => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });
  assert.equal(brokenCall(failed('ECONNREFUSED'), send, never).code, 'unavailable');
  assert.equal(brokenCall(new TypeError('fetch failed', { cause: new AggregateError([Object.assign(new Error('x'), { code: 'ENETUNREACH' })]) }), send, never).code, 'unavailable');
  assert.equal(brokenCall(failed('ECONNRESET'), send, never).code, 'unknown_outcome');
  assert.equal(brokenCall(failed('ECONNRESET'), look, never).code, 'unavailable');
  assert.equal(brokenCall(new DOMException('late', 'TimeoutError'), send, never).code, 'unknown_outcome');
  assert.equal(brokenCall(failed('ECONNRESET'), send, AbortSignal.abort()).code, 'aborted');
});
