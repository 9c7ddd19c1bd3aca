import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { refusal, toPlatformError, unlessCode } from './errors.ts';
import { TransportError } from './transport.ts';

const once = { name: 'POST /channels/{channel}/messages', once: true };
const repeatable = { ...once, once: false };
const { signal: calm } = new AbortController();

describe('a refusal', () => {
  for (const [what, status, answer, code, missing] of [
    ['of the token', 401, { code: 0, message: '401: Unauthorized' }, 'bad_credential', undefined],
    ['for want of permissions', 403, { code: 50013, message: 'Missing Permissions' }, 'forbidden', undefined],
    ['of somebody who takes no messages', 403, { code: 50007, message: 'Cannot send messages to this user' }, 'forbidden', undefined],
    ['of a channel that is gone', 404, { code: 10003 }, 'chat_gone', undefined],
    ['of a message that is gone', 404, { code: 10008 }, 'not_found', 'message'],
    ['of an interaction that is over', 404, { code: 10015 }, 'not_found', 'message'],
    ['of a file that is too large', 413, { code: 40005 }, 'too_large', undefined],
    ['of a file that is too large, by the wall in front', 413, undefined, 'too_large', undefined],
    ['of an anchor', 400, { code: 50035, errors: { message_reference: { _errors: [{ code: 'REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE' }] } } }, 'not_found', 'reply'],
    ['of a text', 400, { code: 50035, errors: { content: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH' }] } } }, 'too_long', undefined],
    ['of a form', 400, { code: 50035, errors: { components: { 0: { _errors: [{ code: 'BASE_TYPE_BAD_LENGTH' }] } } } }, 'rejected', undefined],
    ['of a kind of channel', 400, { code: 50008 }, 'unsupported', undefined],
    ['of a kind nobody knows', 418, { code: 'x' }, 'rejected', undefined],
  ] as const) {
    it(`${what} is ${code}`, () => {
      const error = refusal(repeatable, status, answer);
      assert.deepEqual([error.code, error.facts.missing], [code, missing]);
    });
  }

  it('by a server in trouble may have been carried out', () => {
    assert.deepEqual([refusal(once, 502, undefined).code, refusal(repeatable, 502, undefined).code], ['unknown_outcome', 'unavailable']);
  });
});

describe('a call without an answer', () => {
  it('is known not to have arrived only when there was no connection', () => {
    const codes = (['connecting', 'sent', 'answered'] as const).map((phase) => toPlatformError(new TransportError(phase, 'x'), once, calm).code);
    assert.deepEqual(codes, ['unavailable', 'unknown_outcome', 'unknown_outcome']);
    assert.equal(toPlatformError(new TransportError('sent', 'x'), repeatable, calm).code, 'unavailable');
    assert.equal(toPlatformError(new TransportError('sent', 'x'), once, AbortSignal.abort()).code, 'aborted');
  });
});

it('a refusal that changes nothing is passed over, and no other', () => {
  assert.equal(unlessCode('not_found')(new PlatformError('not_found', 'x')), undefined);
  assert.throws(() => unlessCode('not_found')(new PlatformError('forbidden', 'x')), PlatformError);
  assert.throws(() => unlessCode('not_found')(new Error('x')), /x/);
});
