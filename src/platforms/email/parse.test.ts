import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as mime from 'postal-mime';
import type { InboundEvent } from '../../core/message.ts';
import { patientClock } from '../../lib/patient-clock.test-support.ts';
import recorded from './fixtures/mails.json' with { type: 'json' };
import { htmlToText } from './html-text.ts';
import { readMail } from './mail.ts';
import { newReading, parseMail } from './parse.ts';
import type { Parsed } from './parse.ts';

const receivedAtMs = Date.UTC(2026, 10, 15, 12);
const options = { address: 'hermes@gateway.test', aliases: [], verifySenders: true, authservIds: ['mx.simulated.test'], conversations: 'thread' as const, skipAttachments: false };

const parse = async (lines: readonly string[], more: { readonly options?: Partial<typeof options> | { conversations: 'person' }; readonly cut?: boolean; readonly isBot?: boolean } = {}): Promise<Parsed> => {
  const mail = await readMail(mime, Buffer.from(lines.join('\r\n')));
  const words = mail.text.trim() !== '' || mail.html === '' ? mail.text : await htmlToText(mail.html, { whole: false, clock: patientClock }, new AbortController().signal);
  const arrived = { place: { folder: 'INBOX', uidValidity: '7', uid: 3 }, receivedAtMs, sizeBytes: 30_000_000, cut: more.cut ?? false, words, isBot: more.isBot ?? false };
  return parseMail(newReading('email', { ...options, ...more.options }), mail, arrived);
};

const eventOf = async (...args: Parameters<typeof parse>): Promise<InboundEvent> => {
  const parsed = await parse(...args);
  return 'event' in parsed ? parsed.event : assert.fail(JSON.stringify(parsed));
};

const plain = (...lines: readonly string[]): readonly string[] => ['Authentication-Results: mx.simulated.test; dmarc=pass', 'From: Bob <bob@example.org>', 'Message-ID: <m1@example.org>', ...lines];

describe('a mail of a person', () => {
  it('becomes an event with the words that were written now', async () => {
    const event = await eventOf(recorded['gmail-reply']);
    assert.deepEqual(event, {
      account: 'email',
      kind: 'message',
      nativeId: 'CAF=reply-1@mail.gmail.test',
      chat: { id: 'bob@gmail.test', type: 'dm', topic: 'The plan', threadId: 't1' },
      sender: { id: 'bob@gmail.test', name: 'Bob Müller', isBot: false },
      text: 'Yes, café at ten.',
      media: [],
      messageId: 'CAF=reply-1@mail.gmail.test',
      replyTo: { messageId: 'hermes-0123456789abcdef01234567.t1@gateway.test', isOwn: true },
      addressed: true,
      mentioned: false,
      sentAtMs: Date.UTC(2026, 10, 15, 9, 59, 57),
    });
  });

  it('is read from HTML where there is nothing else, in its own charset and without history', async () => {
    assert.equal((await eventOf(recorded['outlook-html-only'])).text, '[Subject: Numbers]\n\nThe price is 5€ – **good**?\n\nCarol');
  });

  it('is read in Japanese', async () => {
    const event = await eventOf(recorded['iso-2022-jp']);
    assert.deepEqual([event.sender.name, event.text], ['太郎', '[Subject: 色珪]\n\nこんにちは']);
  });

  it('brings its files by number, with names from RFC 2231, and a voice memo as voice', async () => {
    const { media, text } = await eventOf(recorded['apple-mail-inline-image']);
    assert.equal(text, '[Subject: Look]\n\nSee the picture.');
    assert.deepEqual(media.map(({ kind, name, ref }) => [kind, name, ref['file']]), [['photo', 'Bücher.png', 0], ['voice', 'Voice Memo 12.m4a', 1]]);
    assert.deepEqual((await eventOf(recorded['apple-mail-inline-image'], { options: { skipAttachments: true } })).media, []);
  });

  it('is read as far as it goes when it is broken', async () => {
    const event = await eventOf(recorded['broken-mime']);
    assert.match(event.text, /Cut off in the mid$/);
    assert.equal(event.sentAtMs, receivedAtMs);
  });

  it('keeps what was forwarded', async () => {
    assert.match((await eventOf(recorded['forwarded'])).text, /What is this\?[\s\S]*You owe us 5\.$/);
  });

  it('without an id is known by what it holds', async () => {
    const [one, same] = [await eventOf(recorded['no-message-id']), await eventOf(recorded['no-message-id'])];
    assert.equal(one.nativeId, same.nativeId);
    assert.equal(one.messageId, undefined);
    assert.notEqual((await eventOf([...recorded['no-message-id'], 'more'])).nativeId, one.nativeId);
  });

  it('says its subject unless that only repeats the thread or stands above a command', async () => {
    assert.equal((await eventOf(plain('Subject: Plan', '', 'Shall we?'))).text, '[Subject: Plan]\n\nShall we?');
    assert.equal((await eventOf(plain('Subject: AW: Plan', '', 'Yes.'))).text, 'Yes.');
    assert.equal((await eventOf(plain('Subject: Plan', '', '/status'))).text, '/status');
    assert.equal((await eventOf(plain('Subject: /new', '', ''))).text, '/new');
  });

  it('is one conversation per person if that is wanted', async () => {
    assert.equal((await eventOf(recorded['gmail-reply'], { options: { conversations: 'person' } })).chat.threadId, undefined);
  });

  it('that is too large says so and has no files', async () => {
    const event = await eventOf(recorded['apple-mail-inline-image'], { cut: true });
    assert.match(event.text, /See the picture\.\n\n\[This mail has 30\.0 MB\. Only its beginning was read, without its files\.\]$/);
    assert.deepEqual(event.media, []);
  });

  it('whose sender writes too fast is one of a bot', async () => {
    assert.equal((await eventOf(recorded['gmail-reply'], { isBot: true })).sender.isBot, true);
  });
});

describe('a sender', () => {
  it('without proof is unverified, and it says why', async () => {
    const lines = recorded['gmail-reply'].filter((line) => !/^(?:Authentication-Results|\t)/.test(line));
    assert.equal((await eventOf(lines)).sender.unverified, 'no Authentication-Results');
    assert.equal((await eventOf(lines, { options: { verifySenders: false } })).sender.unverified, undefined);
  });

  it('who shares a From with another is unverified', async () => {
    for (const from of ['From: bob@example.org, alice@example.org', 'From: bob@example.org\r\nFrom: alice@example.org'])
      assert.equal((await eventOf(['Authentication-Results: mx.simulated.test; dmarc=pass', from, '', 'x'])).sender.unverified, 'it names more than one author');
  });
});

describe('mail that is not to be answered', () => {
  it('is skipped with its reason', async () => {
    assert.deepEqual(await parse(recorded['newsletter']), { skip: 'automated mail: Precedence: bulk' });
    assert.deepEqual(await parse(recorded['out-of-office']), { skip: 'automated mail: Auto-Submitted: auto-replied' });
    assert.deepEqual(await parse(['To: x', '', 'nobody wrote this']), { skip: 'it has no sender' });
    assert.ok('skip' in (await parse(recorded['delivery-report-about-others'])));
  });

  it('is a bounce where it is about a message of ours', async () => {
    const id = 'hermes-0123456789abcdef01234567@gateway.test';
    const report = ['Final-Recipient: rfc822; gone@example.org', 'Action: failed', 'Status: 5.1.1', 'Diagnostic-Code: smtp; 550 5.1.1', '  no such user'];
    const lines = ['From: MAILER-DAEMON@mx.test', 'Content-Type: multipart/report; report-type=delivery-status; boundary=D', '', '--D', 'Content-Type: text/plain', '', 'Sorry.', '--D', 'Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.test', '', ...report, '', '--D', 'Content-Type: message/rfc822', '', `Message-ID: <${id}>`, 'Subject: x', '', 'hello', '--D--', ''];
    assert.deepEqual(await parse(lines), { bounce: { messageId: id, action: 'failed', recipient: 'gone@example.org', status: '5.1.1', diagnostic: '550 5.1.1 no such user' } });
  });
});
