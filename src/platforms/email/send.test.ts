import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import PostalMime from 'postal-mime';
import { eventually, eventWith, failure, never } from '../conformance-bench.ts';
import type { EmailSimulator } from './simulator.ts';
import { alice, messageTo, openMailbox } from './email.test-support.ts';

const lastMail = async (provider: EmailSimulator) => {
  const sent = provider.sent().at(-1) ?? assert.fail('nothing was sent');
  const mail = await PostalMime.parse(sent.raw);
  return { ...mail, envelope: { from: sent.from, to: sent.to }, header: (name: string) => mail.headers.find(({ key }) => key === name)?.value };
};

describe('an answer', () => {
  it('continues the thread of the mail it answers, and says that a machine wrote it', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    box.provider.deliver(['Authentication-Results: mx.simulated.test; dmarc=pass', `From: ${alice}`, 'Message-ID: <q2@example.org>', 'References: <q0@example.org> <q1@example.org>', 'In-Reply-To: <q1@example.org>', 'Subject: =?utf-8?q?Der_Plan_f=C3=BCr_morgen?=', '', 'Well?', ''].join('\r\n'));
    const event = await eventually(() => inbox.events[0], 'the question arrived');
    const { messageIds } = await box.adapter.send(messageTo('k', '**Yes.**', { replyTo: 'q2@example.org', threadId: event.chat.threadId ?? '' }), never);
    const mail = await lastMail(box.provider);
    assert.deepEqual(mail.envelope, { from: box.provider.address, to: alice });
    assert.deepEqual([mail.subject, mail.inReplyTo, mail.references], ['Re: Der Plan für morgen', '<q2@example.org>', '<q0@example.org> <q1@example.org> <q2@example.org>']);
    assert.equal(mail.messageId, `<${messageIds[0]}>`);
    assert.deepEqual([mail.header('auto-submitted'), mail.header('x-auto-response-suppress'), mail.header('x-hermes-gateway')], ['auto-replied', 'All', '1']);
    assert.deepEqual([mail.from?.name, mail.text?.trim()], ['Hermes', 'Yes.']);
    assert.match(mail.html ?? '', /<strong>Yes\.<\/strong>/);
  });

  it('leads to an answer that comes from the same place', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    const id = await box.say('question');
    const { chat } = await eventWith(inbox, 'question');
    const { messageIds } = await box.adapter.send(messageTo('k', 'answer', { replyTo: id, threadId: chat.threadId ?? '' }), never);
    await box.say('thanks', { replyTo: messageIds[0] ?? '' });
    const thanks = await eventWith(inbox, 'thanks');
    assert.deepEqual([thanks.chat.threadId, thanks.replyTo?.isOwn], [chat.threadId, true]);
  });

  it('goes on in its thread with a second part, and after a restart', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    const id = await box.say('question');
    const { chat } = await eventWith(inbox, 'question');
    const first = await box.adapter.send(messageTo('k1', 'part one', { replyTo: id, threadId: chat.threadId ?? '' }), never);
    await (await box.open()).send(messageTo('k2', 'part two', { threadId: chat.threadId ?? '' }), never);
    const mail = await lastMail(box.provider);
    assert.equal(mail.inReplyTo, `<${first.messageIds[0]}>`);
    assert.equal(mail.references, `<${id}> <${first.messageIds[0]}>`);
  });
});

describe('a mail that nobody asked for', () => {
  it('begins a thread with a subject of its own, and an answer to it belongs to no other', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    const { messageIds } = await box.adapter.send(messageTo('cron:1', '# Weather\n\nSunny.'), never);
    const mail = await lastMail(box.provider);
    assert.deepEqual([mail.subject, mail.inReplyTo, mail.header('auto-submitted')], ['Weather', undefined, 'auto-generated']);
    await box.adapter.send(messageTo('cron:2', 'Rain'), never);
    assert.equal((await lastMail(box.provider)).inReplyTo, undefined);
    await box.say('great', { replyTo: messageIds[0] ?? '' });
    assert.equal((await eventWith(inbox, 'great')).chat.threadId, undefined);
  });

  it('in a new thread carries its name, and the next one follows it', async () => {
    await using box = await openMailbox();
    const thread = (await box.adapter.threads?.open(messageTo('', '').target, 'Trip to\nRome', never)) ?? assert.fail('no thread');
    const first = await box.adapter.send({ ...messageTo('k1', 'Hello'), target: thread }, never);
    assert.equal((await lastMail(box.provider)).subject, 'Trip to Rome');
    await box.adapter.send({ ...messageTo('k2', 'More'), target: thread }, never);
    const mail = await lastMail(box.provider);
    assert.deepEqual([mail.subject, mail.inReplyTo], ['Re: Trip to Rome', `<${first.messageIds[0]}>`]);
  });
});

describe('sending', () => {
  it('gives a repeat the id of the first, and other messages others', async () => {
    await using box = await openMailbox();
    box.provider.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await failure(box.adapter.send(messageTo('same', 'hello'), never), 'unknown_outcome');
    const again = await (await box.open()).send(messageTo('same', '♻️ hello'), never);
    const other = await box.adapter.send(messageTo('other', 'hello'), never);
    const ids = await Promise.all(box.provider.sent().map(async ({ raw }) => (await PostalMime.parse(raw)).messageId));
    assert.deepEqual(ids, [`<${again.messageIds[0]}>`, `<${again.messageIds[0]}>`, `<${other.messageIds[0]}>`]);
  });

  it('uses one connection for everything', async () => {
    await using box = await openMailbox();
    await Promise.all(['a', 'b', 'c', 'd'].map((text) => box.adapter.send(messageTo(text, text), never)));
    assert.equal(box.provider.smtpConnections(), 1);
    assert.equal(box.provider.sent().length, 4);
  });

  it('frees whoever waits for others and leaves', async () => {
    await using box = await openMailbox();
    box.provider.fail({ what: 'send', fault: { type: 'hang' } });
    const [first, second] = [new AbortController(), new AbortController()];
    const hanging = failure(box.adapter.send(messageTo('1', 'hangs'), first.signal), 'unknown_outcome', 'aborted');
    await eventually(() => box.provider.faultsLeft() === 0, 'the first one hangs');
    const waiting = failure(box.adapter.send(messageTo('2', 'waits'), second.signal), 'aborted');
    second.abort();
    await waiting;
    first.abort();
    await hanging;
    await box.adapter.send(messageTo('3', 'works'), never);
    await eventually(() => box.provider.visible(alice).length === 1, 'the last one is shown');
    assert.equal(box.provider.visible(alice)[0]?.text, 'works');
  });

  it('tells apart what a refusal is about', async () => {
    await using box = await openMailbox();
    const refusals = [
      [{ at: 'rcpt', code: 550, text: '5.1.1 No such user' }, 'chat_gone'],
      [{ at: 'rcpt', code: 550, text: '5.7.1 You are blocked' }, 'forbidden'],
      [{ at: 'rcpt', code: 550, text: 'No such user here' }, 'chat_gone'],
      [{ at: 'data', code: 550, text: '5.7.1 Looks like spam' }, 'rejected'],
      [{ at: 'data', code: 552, text: '5.3.4 Too big' }, 'too_large'],
      [{ at: 'data', code: 451, text: '4.3.0 Disk trouble' }, 'unavailable'],
    ] as const;
    for (const [refusal, code] of refusals) {
      box.provider.refuse(refusal);
      await failure(box.adapter.send(messageTo(refusal.text, 'x'), never), code);
    }
    assert.equal(box.provider.sent().length, 0);
  });

  it('knows whom a limit covers, and how long', async () => {
    await using box = await openMailbox();
    const limits = [
      [{ at: 'rcpt', code: 450, text: '4.2.0 Greylisted' }, undefined],
      [{ at: 'rcpt', code: 450, text: '4.7.1 Greylisted, retry in 5 minutes' }, ['chat', 300_000]],
      [{ at: 'mail', code: 421, text: '4.7.0 Too many messages' }, ['account', 60_000]],
      [{ at: 'data', code: 550, text: '5.4.5 Daily user sending limit exceeded' }, ['account', 3_600_000]],
    ] as const;
    for (const [refusal, expected] of limits) {
      box.provider.refuse(refusal);
      const { facts } = await failure(box.adapter.send(messageTo(refusal.text, 'x'), never), expected === undefined ? 'unavailable' : 'rate_limited');
      assert.deepEqual(expected === undefined ? undefined : [facts.scope, facts.retryAfterMs], expected);
    }
  });

  it('refuses what is no address, no thread, nothing, or too much', async () => {
    await using box = await openMailbox();
    const { target } = messageTo('', '');
    await failure(box.adapter.send({ ...messageTo('1', 'x'), target: { ...target, chatId: 'bob@x.org, eve@x.org' } }, never), 'chat_gone');
    await failure(box.adapter.send(messageTo('2', 'x', { threadId: 'a>b\r\nBcc: eve@x.org' }), never), 'not_found');
    await failure(box.adapter.send(messageTo('3', '  '), never), 'rejected');
    const path = join(box.folder, 'large.bin');
    await writeFile(path, Buffer.alloc(19 * 1024 * 1024));
    await failure(box.adapter.send(messageTo('4', 'x', { media: [{ kind: 'document', path, mime: 'application/octet-stream', name: 'large.bin' }] }), never), 'too_large');
    await failure(box.adapter.send(messageTo('5', 'x', { media: [{ kind: 'document', path: join(box.folder, 'none'), mime: 'text/plain', name: 'none' }] }), never), 'not_found');
    assert.equal(box.provider.sent().length, 0);
  });

  it('writes names of files as they are', async () => {
    await using box = await openMailbox();
    const path = join(box.folder, 'file');
    await writeFile(path, 'words');
    await box.adapter.send(messageTo('k', '', { media: [{ kind: 'voice', path, mime: 'audio/ogg', name: 'Grüße "an" dich.ogg' }] }), never);
    const { attachments } = await lastMail(box.provider);
    assert.deepEqual(attachments.map(({ filename, mimeType, disposition }) => [filename, mimeType, disposition]), [['Grüße "an" dich.ogg', 'audio/ogg', 'attachment']]);
  });
});

