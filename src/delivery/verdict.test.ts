import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { PlatformError } from '../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../core/errors.ts';
import { telegram } from '../platforms/telegram/index.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Delivery, OutboxItem } from '../store/outbox.ts';
import { afterError, afterUnknown } from './verdict.ts';

const platform = telegram as Platform;

const item = (delivery: Partial<Delivery> = {}, more: Partial<OutboxItem> = {}): OutboxItem => ({
  id: 1,
  turnId: null,
  delivery: { message: { key: 'k', target: sampleTarget({ replyTo: '5' }), text: 'hello' }, ...delivery },
  state: 'sending',
  attempts: 1,
  repeated: false,
  log: [],
  messageIds: [],
  createdAtMs: 0,
  untouchedMs: 0,
  waitMs: 0,
  ...more,
});

const judge = (code: PlatformErrorCode, given: OutboxItem = item(), facts: PlatformErrorFacts = {}) => afterError(given, new PlatformError(code, 'said so', facts), { platform, repeatsAreSafe: false });

const deliveryOf = (verdict: ReturnType<typeof judge>): Delivery => {
  assert.ok(verdict.type !== 'fail' && verdict.delivery !== undefined, verdict.type);
  return verdict.delivery;
};

describe('what certainly did not arrive', () => {
  for (const code of ['unavailable', 'bad_credential', 'conflict'] as const) {
    test(`${code}: is tried again later, as it is, with growing pauses`, () => {
      const [early, late] = [judge(code), judge(code, item({}, { attempts: 9 }))];
      assert.ok(early.type === 'again' && late.type === 'again');
      assert.ok(early.delayMs <= 1000 && late.delayMs >= 30_000 && late.delayMs <= 60_000);
      assert.equal(early.delivery, undefined);
    });
  }

  for (const [code, deadTarget] of [['forbidden', true], ['chat_gone', true], ['too_large', false], ['unsupported', false], ['rejected', false], ['not_found', false]] as const) {
    test(`${code}: is given up${deadTarget ? ', and so is the chat' : ''}`, () => {
      assert.deepEqual(judge(code), { type: 'fail', deadTarget, reason: `${code}: said so` });
    });
  }

  test('a rate limit waits for its time and is no attempt', () => {
    const verdict = afterError(item(), new PlatformError('rate_limited', ''), { platform, repeatsAreSafe: false, gateMs: 1234 });
    assert.deepEqual(verdict, { type: 'again', delayMs: 1234, uncounted: true });
  });

  test('refused markup is sent as plain text, once', () => {
    const plain = deliveryOf(judge('bad_format'));
    assert.equal(plain.message.plain, true);
    assert.equal(judge('bad_format', item(plain)).type, 'fail');
  });

  test('a chat that has moved is followed', () => {
    assert.equal(deliveryOf(judge('chat_gone', item(), { movedToChatId: '-200' })).message.target.chatId, '-200');
  });

  test('an anchor that is gone is left out; a thread that is gone is not replaced by another place', () => {
    const { target } = deliveryOf(judge('not_found', item({ rest: ['more'] }), { missing: 'reply' })).message;
    assert.ok(!('replyTo' in target));
    assert.deepEqual(deliveryOf(judge('not_found', item({ rest: ['more'] }), { missing: 'reply' })).rest, ['more']);
    assert.equal(judge('not_found', item(), { missing: 'thread' }).type, 'fail');
  });
});

describe('a preview that cannot be finished', () => {
  for (const code of ['not_found', 'rejected', 'unsupported'] as const) {
    test(`${code}: its text is sent as a new message, with all that follows`, () => {
      const delivery = deliveryOf(judge(code, item({ finishes: '9', rest: ['more'] })));
      assert.ok(!('finishes' in delivery));
      assert.deepEqual([delivery.message.text, delivery.rest], ['hello', ['more']]);
    });
  }

  test('in a chat that is closed to us is given up', () => {
    assert.equal(judge('forbidden', item({ finishes: '9' })).type, 'fail');
  });

  test('whose answer was lost is simply finished again: an edit can be repeated', () => {
    const verdict = judge('unknown_outcome', item({ finishes: '9' }));
    assert.ok(verdict.type === 'again' && verdict.delivery === undefined);
  });
});

describe('what is too long by the count of the platform', () => {
  const text = Array.from({ length: 700 }, (_, i) => `word${i}`).join(' ');

  test('comes in plain pieces that lose nothing', () => {
    const { message, rest = [] } = deliveryOf(judge('too_long', item({ message: { key: 'k', target: sampleTarget(), text } })));
    assert.equal(message.plain, true);
    const pieces = [message.text, ...rest].map((piece) => piece.replace(/ \(\d+\/\d+\)$/, ''));
    assert.ok(pieces.length > 1 && pieces.every((piece) => piece.length <= 2048));
    assert.equal(pieces.join(' '), text);
  });

  test('is given up when even a piece is', () => {
    const delivery = deliveryOf(judge('too_long', item({ message: { key: 'k', target: sampleTarget(), text } })));
    assert.equal(judge('too_long', item(delivery)).type, 'fail');
  });
});

describe('a send whose answer was lost', () => {
  test('is repeated once, with a mark, and that is final', () => {
    const verdict = judge('unknown_outcome');
    assert.equal(verdict.type, 'repeat');
    assert.equal(deliveryOf(verdict).message.text, '♻️ Possibly a repeat:\nhello');
    assert.equal(judge('unknown_outcome', item({}, { repeated: true })).type, 'fail');
  });

  test('has a short mark where the long one does not fit', () => {
    const verdict = afterUnknown(item({ message: { key: 'k', target: sampleTarget(), text: 'x'.repeat(4090) } }), platform, false);
    assert.equal(deliveryOf(verdict).message.text, `♻️ ${'x'.repeat(4090)}`);
  });

  test('is repeated as it is where the platform shows it once in any case', () => {
    const verdict = afterUnknown(item({}, { repeated: true }), platform, true);
    assert.ok(verdict.type === 'again' && verdict.delivery === undefined);
  });
});
