import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import vectors from '../../../test/vectors/send-errors.json' with { type: 'json' };
import type { PlatformErrorCode } from '../../core/errors.ts';
import { classifyDescription, Refusal, toPlatformError } from './errors.ts';
import { TransportError } from './transport.ts';
import type { Json } from './wire.ts';

const codeOf = ({ kind, whole_chat_dead }: (typeof vectors.cases)[number]['out']): string => {
  if (kind === 'unknown') return 'rejected';
  return kind === 'not_found' && whole_chat_dead ? 'chat_gone' : kind;
};

describe('a description', () => {
  for (const { id, in: description, out } of vectors.cases) {
    it(`${id}: "${description}" means ${codeOf(out)}`, () => assert.equal(classifyDescription(undefined, description).code, codeOf(out)));
  }

  for (const [status, description, code, missing] of [
    [400, 'Bad Request: message thread not found', 'not_found', 'thread'],
    [400, 'Bad Request: message to be replied not found', 'not_found', 'reply'],
    [400, 'Bad Request: message to edit not found', 'not_found', 'message'],
    [400, 'Bad Request: wrong file_id or the file is temporarily unavailable', 'not_found', 'file'],
    [400, 'Bad Request: message caption is too long', 'too_long'],
    [400, 'Bad Request: file is too big', 'too_large'],
    [413, 'Request Entity Too Large', 'too_large'],
    [400, 'Bad Request: the chat is not a forum', 'unsupported'],
    [400, 'Bad Request: REACTION_INVALID', 'unsupported'],
    [400, 'Bad Request: PEER_ID_INVALID', 'chat_gone'],
    [403, 'Forbidden: user is deactivated', 'forbidden'],
    [403, 'Forbidden: something new', 'forbidden'],
    [401, 'Unauthorized', 'bad_credential'],
    [404, 'Not Found', 'bad_credential'],
    [409, 'Conflict: terminated by other getUpdates request', 'conflict'],
    [429, 'Too Many Requests: retry after 5', 'rate_limited'],
    [500, 'Internal Server Error', 'unavailable'],
    [400, 'Bad Request: something new', 'rejected'],
  ] as const) {
    it(`${status} "${description}" means ${code}`, () => {
      assert.deepEqual(classifyDescription(status, description), { code, ...(missing !== undefined && { missing }) });
    });
  }
});

describe('a failed call', () => {
  const live = new AbortController().signal;
  const once = { once: true, scope: 'chat' } as const;
  const again = { once: false, scope: 'account' } as const;
  const lost = (phase: TransportError['phase']) => new TransportError(phase, 'gone', 'ECONNRESET');
  const refused = (answer: Json) => new Refusal('sendMessage', { ok: false, ...answer });

  for (const [what, error, facts, code] of [
    ['a visible call that never left', lost('connecting'), once, 'unavailable'],
    ['a visible call whose answer was lost', lost('sent'), once, 'unknown_outcome'],
    ['a visible call with an unreadable answer', lost('answered'), once, 'unknown_outcome'],
    ['a repeatable call whose answer was lost', lost('sent'), again, 'unavailable'],
    ['a visible call that Telegram failed to handle', refused({ error_code: 500, description: 'Internal Server Error' }), once, 'unavailable'],
    ['an upload whose file vanished', Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'read' }), once, 'rejected'],
    ['a call that broke in an unknown way', new TypeError('x'), once, 'unknown_outcome'],
  ] as const satisfies readonly (readonly [string, unknown, object, PlatformErrorCode])[]) {
    it(`is ${code} for ${what}`, () => assert.equal(toPlatformError(error, facts, live).code, code));
  }

  it('is aborted whatever else went wrong, when we gave it up', () => {
    assert.equal(toPlatformError(lost('sent'), once, AbortSignal.abort()).code, 'aborted');
  });

  it('says how long a limit lasts and whom it covers', () => {
    const error = refused({ error_code: 429, description: 'Too Many Requests: retry after 7', parameters: { retry_after: 7 } });
    assert.deepEqual(toPlatformError(error, once, live).facts, { scope: 'chat', retryAfterMs: 7000 });
    assert.equal(toPlatformError(error, again, live).facts.scope, 'account');
  });

  it('says where a group went that became a supergroup', () => {
    const error = refused({ error_code: 400, description: 'Bad Request: group chat was upgraded to a supergroup chat', parameters: { migrate_to_chat_id: -1001 } });
    const { code, facts } = toPlatformError(error, once, live);
    assert.deepEqual([code, facts.movedToChatId], ['chat_gone', '-1001']);
  });
});
