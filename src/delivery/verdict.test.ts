import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleTarget } from '../../test/support/samples.ts';
import { PlatformError } from '../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../core/errors.ts';
import type { OutboundMessage } from '../core/message.ts';
import { telegram } from '../platforms/telegram/index.ts';
import type { Platform } from '../platforms/contract.ts';
import type { Delivery, OutboxItem } from '../store/messages/outbox.ts';
import { afterError, afterUnknown, nextPiece } from './verdict.ts';

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
  ageMs: 0,
  untouchedMs: 0,
  waitMs: 0,
  ...more,
});

const judge = (code: PlatformErrorCode, given: OutboxItem = item(), facts: PlatformErrorFacts = {}) => afterError(given, new PlatformError(code, 'said so', facts), { platform, repeatsAreSafe: false, othersGotThrough: false });

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
    const verdict = afterError(item(), new PlatformError('rate_limited', ''), { platform, repeatsAreSafe: false, othersGotThrough: false, gateMs: 1234 });
    assert.deepEqual(verdict, { type: 'again', delayMs: 1234, uncounted: true });
  });

  test('refused markup is sent as plain text, once', () => {
    const plain = deliveryOf(judge('bad_format'));
    assert.equal(plain.message.plain, true);
    assert.equal(judge('bad_format', item(plain)).type, 'fail');
  });

  test('a chat that has moved is followed', () => {
    const { message } = item().delivery;
    const old = { message: { ...message, target: { ...message.target, threadId: '7', replyTo: '9' } }, finishes: '5' };
    const { threadId: _thread, replyTo: _reply, ...place } = message.target;
    assert.deepEqual(deliveryOf(judge('chat_gone', item(old), { movedToChatId: '-200' })), { message: { ...message, target: { ...place, chatId: '-200' } } }, 'without what exists in the old one only');
    assert.equal(judge('chat_gone', item({ ...old, changes: 'key' }), { movedToChatId: '-200' }).type, 'fail', 'a message of the old one cannot be changed in the new one');
  });

  test('a file that is gone does not take the words with it', () => {
    const media = [{ kind: 'document', path: '/elsewhere/report.pdf', mime: 'application/pdf', name: 'report.pdf' }] as const;
    const { message } = item().delivery;
    const sent = (text: string) => deliveryOf(judge('not_found', item({ message: { ...message, text, media } }), { missing: 'file' })).message;
    assert.deepEqual(sent('Here it is.'), { ...message, text: 'Here it is.\n\n⚠️ report.pdf could not be sent.' });
    assert.equal(sent('').text, '⚠️ report.pdf could not be sent.');
  });

  test('a file that is too large takes neither the words nor the other files with it, and people are told', () => {
    const file = (name: string) => ({ kind: 'document', path: `/media/${name}`, mime: 'application/pdf', name }) as const;
    const { message } = item().delivery;
    const sent = (facts: PlatformErrorFacts) => deliveryOf(judge('too_large', item({ message: { ...message, text: 'Here.', media: [file('big.pdf'), file('small.pdf')] } }), facts)).message;
    assert.deepEqual(sent({ file: 'big.pdf' }), { ...message, text: 'Here.\n\n⚠️ big.pdf cannot be sent here: too large.', media: [file('small.pdf')] });
    for (const facts of [{}, { file: 'unheard-of.pdf' }]) assert.deepEqual(sent(facts), { ...message, text: 'Here.\n\n⚠️ big.pdf, small.pdf cannot be sent here: too large.' }, 'all of them where nobody knows which');
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

  const choices = [[{ label: 'Yes', data: 'q:1:0' }]];
  const media = [{ kind: 'document', path: '/m/report.pdf', mime: 'application/pdf', name: 'report.pdf' }] as const;

  test('is attached to what it answers by its first piece, and has its files and buttons at its last, once', () => {
    const message = { key: 'k', target: sampleTarget({ replyTo: '5' }), text: `${text} ${text}`, media, choices };
    const pieces: OutboundMessage[] = [];
    for (let delivery: Delivery | undefined = deliveryOf(judge('too_long', item({ message }))); delivery !== undefined; delivery = nextPiece(delivery)) pieces.push(delivery.message);
    assert.ok(pieces.length > 2);
    assert.deepEqual(pieces.map((piece) => [piece.target.replyTo, piece.media, piece.choices]), pieces.map((_, i) => [i === 0 ? '5' : undefined, ...(i === pieces.length - 1 ? [media, choices] : [undefined, undefined])]));
    assert.equal(new Set(pieces.map(({ key }) => key)).size, pieces.length);
  });

  test('keeps files and buttons where one piece is enough', () => {
    const { message } = deliveryOf(judge('too_long', item({ message: { key: 'k', target: sampleTarget(), text: 'short', media, choices } })));
    assert.deepEqual([message.media, message.choices], [media, choices]);
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

describe('what fails while the account delivers other messages', () => {
  const media = [{ kind: 'photo', path: '/m/chart.png', mime: 'image/png', name: 'chart.png' }] as const;

  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

  /** Every state of a delivery that fails so often, each time alone or not, until it is given up. */
  const troubles = (code: PlatformErrorCode, first: Partial<Delivery>, tries: { count: number; attempts?: number; isAlone?: (n: number) => boolean; repeatsAreSafe?: boolean }) => {
    const seen: Delivery[] = [];
    let given = item(first, { attempts: tries.attempts ?? 1 });
    for (let n = 1; n <= tries.count; n += 1) {
      const verdict = afterError(given, new PlatformError(code, 'said so'), { platform, repeatsAreSafe: tries.repeatsAreSafe ?? false, othersGotThrough: tries.isAlone?.(n) ?? true });
      if (verdict.type !== 'again') return { seen, end: verdict };
      given = { ...given, attempts: given.attempts + 1, delivery: verdict.delivery ?? given.delivery };
      seen.push(given.delivery);
    }
    return { seen, end: undefined };
  };

  test('is tried as it is, then as plain text, then without its files, and given up after ten such tries', () => {
    const { seen, end } = troubles('unavailable', { message: { key: 'k', target: sampleTarget(), text: 'hello', media } }, { count: 20 });
    assert.deepEqual(seen.map(({ message }) => [message.plain === true, message.media?.length ?? 0]), [...times(2, [false, 1]), ...times(2, [true, 1]), ...times(5, [true, 0])]);
    assert.equal(seen.at(-1)?.message.text, 'hello\n\n⚠️ chart.png could not be sent.');
    assert.deepEqual(end, { type: 'fail', deadTarget: false, reason: 'unavailable: said so (given up after 10 tries, because other messages got through meanwhile)' });
  });

  test('is shown as a new message when its preview cannot be finished', () => {
    const { seen } = troubles('unavailable', { finishes: '9' }, { count: 6 });
    assert.deepEqual(seen.map(({ finishes }) => finishes), ['9', '9', '9', '9', undefined, undefined]);
  });

  test('is given up after about an hour where only once something else was delivered meanwhile', () => {
    const { seen, end } = troubles('unavailable', {}, { count: 100, isAlone: (n) => n === 2 });
    assert.equal(end?.type, 'fail');
    assert.equal(seen.length, 60);
    assert.deepEqual(seen.map(({ message }) => message.plain === true), [...times(59, false), true]);
  });

  test('waits for as long as it may where nothing else was delivered either, or where the account itself is refused', () => {
    assert.equal(troubles('unavailable', {}, { count: 500, isAlone: () => false }).end, undefined);
    assert.equal(troubles('bad_credential', {}, { count: 500 }).end, undefined);
  });

  test('may have arrived when answers are lost: it is repeated in the same form, and given up in the end', () => {
    const { seen, end } = troubles('unknown_outcome', { message: { key: 'k', target: sampleTarget(), text: 'hello', media } }, { count: 20, repeatsAreSafe: true });
    assert.ok(seen.every(({ message }) => message.plain === undefined && message.media === media));
    assert.deepEqual([seen.length, end?.type], [9, 'fail']);
  });
});
