import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { eventually, eventWith, failure, never, newInbox } from '../conformance-bench.ts';
import type { BenchInbox } from '../conformance-bench.ts';
import { alice, messageTo, openMailbox } from './email.test-support.ts';

const texts = (inbox: BenchInbox): readonly string[] => inbox.events.map(({ text }) => text);
const offered = (inbox: BenchInbox): readonly string[] => inbox.offered.map(({ text }) => text);

const withHeaders = (id: string, text: string, more: readonly string[] = []): string =>
  ['Authentication-Results: mx.simulated.test; dmarc=pass', `From: ${alice}`, `Message-ID: <${id}@example.org>`, `Date: ${new Date().toUTCString()}`, ...more, '', text, ''].join('\r\n');

describe('reading a mailbox', () => {
  it('begins with what comes after the first look, and goes on from there after a restart', async () => {
    await using box = await openMailbox();
    await box.say('was there before');
    const first = await box.receive();
    await box.say('one');
    await eventWith(first.inbox, 'one');
    await eventually(() => box.provider.acknowledged() === 1 && box.provider.isIdling(), 'it listens again');
    await first.stop();
    await box.say('two');
    await box.say('three');
    const second = await box.receive(first.inbox, await box.open());
    await eventWith(second.inbox, 'three');
    assert.deepEqual(offered(second.inbox), ['one', 'two', 'three']);
  });

  it('loses nothing that comes between the first look and the first listening', async () => {
    await using box = await openMailbox();
    await box.adapter.identify(never);
    await box.say('in between');
    const stopping = new AbortController();
    const inbox = newInbox();
    const running = box.adapter.run(inbox, { id: box.provider.address, name: 'Hermes' }, stopping.signal);
    await eventWith(inbox, 'in between');
    stopping.abort();
    await running;
  });

  it('ends with the error when a mail cannot be stored, and reads it again', async () => {
    await using box = await openMailbox();
    const { inbox, ended } = await box.receive();
    inbox.before = () => Promise.reject(new Error('disk full'));
    await box.say('keep me');
    assert.match(String(await ended), /disk full/);
    assert.equal(box.provider.acknowledged(), 0);
    inbox.before = async () => undefined;
    await box.receive(inbox);
    await eventWith(inbox, 'keep me');
    assert.deepEqual(texts(inbox), ['keep me']);
    await eventually(() => box.provider.acknowledged() === 1, 'it is marked as read');
  });

  it('reads the last days again when the folder is numbered anew, and doubles nothing', async () => {
    await using box = await openMailbox();
    const first = await box.receive();
    await box.say('one');
    await box.say('two');
    await eventWith(first.inbox, 'two');
    await eventually(() => box.provider.acknowledged() === 2 && box.provider.isIdling(), 'it listens again');
    await first.stop();
    box.provider.deliver(withHeaders('ancient', 'from long ago').replace(/Date: .*/, 'Date: Mon, 01 Jan 2024 10:00:00 +0000'));
    box.provider.renumber('INBOX');
    await box.say('three');
    const second = await box.receive(first.inbox);
    await eventWith(second.inbox, 'three');
    await box.say('four');
    await eventWith(second.inbox, 'four');
    assert.deepEqual(texts(second.inbox), ['one', 'two', 'three', 'four']);
    assert.deepEqual(offered(second.inbox), ['one', 'two', 'one', 'two', 'three', 'four']);
  });

  it('leaves unread what was not let in', async () => {
    await using box = await openMailbox();
    const inbox = newInbox();
    const accept = inbox.accept.bind(inbox);
    await box.receive(Object.assign(inbox, { accept: async (event: Parameters<typeof accept>[0]) => ((await accept(event)), event.text === 'stranger' ? ('denied' as const) : ('stored' as const)) }));
    await box.say('stranger');
    await box.say('friend');
    await eventWith(inbox, 'friend');
    await eventually(() => box.provider.acknowledged() > 0 && box.provider.isIdling(), 'both are done with');
    assert.equal(box.provider.acknowledged(), 1);
    assert.equal((await box.data.list('thread:')).length, 1, 'only the thread of the friend is kept');
  });

  it('marks nothing if that is not wanted', async () => {
    await using box = await openMailbox({ options: { mark_seen: false } });
    const { inbox } = await box.receive();
    await box.say('one');
    await box.say('two');
    await eventWith(inbox, 'two');
    assert.equal(box.provider.acknowledged(), 0);
  });

  it('watches several folders, and takes a mail that lies in two of them once', async () => {
    await using box = await openMailbox({ provider: { folders: ['INBOX', 'Lists/Agents'] } });
    const { inbox } = await box.receive();
    const mail = withHeaders('both', 'in both');
    box.provider.deliver(mail);
    box.provider.deliver(mail, 'Lists/Agents');
    box.provider.deliver(withHeaders('second', 'in the second'), 'Lists/Agents');
    await eventWith(inbox, 'in the second');
    await eventually(() => inbox.offered.length === 3, 'both copies were seen');
    assert.deepEqual(texts(inbox).toSorted(), ['in both', 'in the second']);
  });

  it('says which folder is missing', async () => {
    await using box = await openMailbox();
    const adapter = await box.open({ folders: ['Nowhere'] });
    const error = await failure(adapter.identify(never), 'not_found');
    assert.match(error.message, /Nowhere/);
  });

  it('reads the beginning of a mail that is too large', async () => {
    await using box = await openMailbox({ options: { max_message_mb: 0.3 } });
    const { inbox } = await box.receive();
    box.provider.deliver(withHeaders('huge', `begin ${'x'.repeat(70)}\r\n${'y'.repeat(400_000)}`));
    const event = await eventually(() => inbox.events[0], 'it arrived');
    assert.match(event.text, /^begin x+/);
    assert.match(event.text, /Only its beginning was read/);
  });

  it('passes over what was deleted before it could be read', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    box.provider.deliver(withHeaders('deleted', 'deleted'), 'INBOX', undefined, ['\\Deleted']);
    await box.say('still there');
    await eventWith(inbox, 'still there');
    assert.deepEqual(offered(inbox), ['still there']);
    assert.ok(box.lines.some((line) => line.includes('it is not there any more')));
  });

  it('reports a bounce of a mail of ours, and answers nobody', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    const { messageIds } = await box.adapter.send(messageTo('k1', 'hello'), never);
    box.provider.bounce(messageIds[0] ?? '', { action: 'delayed' });
    box.provider.bounce(messageIds[0] ?? '');
    await box.say('after it');
    await eventWith(inbox, 'after it');
    assert.deepEqual(offered(inbox), ['after it']);
    assert.deepEqual(inbox.returnedMessages, [{ messageId: messageIds[0], reason: 'the mail came back from alice@example.org (5.1.1 550 5.1.1 no such user)' }]);
    assert.equal(box.provider.sent().length, 1);
    const line = box.lines.find((each) => each.includes('email.bounced')) ?? assert.fail('nothing was reported');
    assert.match(line, /5\.1\.1/);
    assert.ok(line.includes(messageIds[0] ?? '-'));
  });

  it('asks once more about a mail that came back before it was written down that it was sent', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    const { messageIds } = await box.adapter.send(messageTo('k1', 'hello'), never);
    const asked: string[] = [];
    inbox.returned = async (id) => asked.push(id) > 1;
    box.provider.bounce(messageIds[0] ?? '');
    await eventually(() => box.lines.some((line) => line.includes('email.bounced') && line.includes('"known":true')), 'it is known');
    assert.deepEqual(asked, [messageIds[0], messageIds[0]]);
  });

  it('takes somebody who writes without end for a machine', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    for (let i = 1; i <= 22; i += 1) box.provider.deliver(withHeaders(`loop-${i}`, `answer ${i}`));
    await eventWith(inbox, 'answer 22');
    assert.deepEqual(inbox.events.map(({ sender }) => sender.isBot), [...Array.from({ length: 20 }, () => false), true, true]);
  });
});

describe('a mail that the server does not give out', () => {
  it('is asked for again a few times, and then holds up nobody', async () => {
    await using box = await openMailbox();
    const inbox = newInbox();
    const first = await box.receive(inbox);
    await eventually(() => box.provider.isIdling(), 'it listens');
    box.provider.fail({ what: 'download', fault: { type: 'status', status: 404 }, count: 3 });
    await box.say('never seen');
    await box.say('behind it');
    let { ended } = first;
    for (let connections = 1; inbox.events.length === 0 && connections <= 5; connections += 1) {
      await Promise.race([ended, eventually(() => inbox.events.length > 0, 'the next one is read').catch(() => undefined)]);
      if (inbox.events.length === 0) ({ ended } = await box.receive(inbox));
    }
    await eventWith(inbox, 'behind it');
    assert.ok(box.lines.some((line) => line.includes('email.given_up')));
  });

  it('for a passing reason is asked for until it comes', async () => {
    await using box = await openMailbox();
    const { inbox, ended } = await box.receive();
    await eventually(() => box.provider.isIdling(), 'it listens');
    box.provider.fail({ what: 'download', fault: { type: 'status', status: 503 } });
    await box.say('later');
    assert.ok((await ended) instanceof PlatformError);
    await box.receive(inbox);
    await eventWith(inbox, 'later');
  });
});

describe('a file of a mail', () => {
  it('is found by Message-ID where the folder was numbered anew, and is gone with its mail', async () => {
    await using box = await openMailbox();
    const { inbox } = await box.receive();
    await box.say('no file');
    await box.say('with a file', { media: { kind: 'document', name: 'a.txt', mime: 'text/plain', bytes: Buffer.from('words') } });
    const ref = (await eventWith(inbox, 'with a file')).media[0] ?? assert.fail('it has no file');
    box.provider.removeFirst('INBOX');
    box.provider.renumber('INBOX');
    const { media } = await box.open();
    assert.equal(await new Response((await media?.open(ref, never)) as ReadableStream<Uint8Array<ArrayBuffer>>).text(), 'words');
    box.provider.removeFirst('INBOX');
    await failure(media?.open(ref, never) ?? Promise.resolve(), 'not_found');
  });
});

describe('a connection that is not what it seems', () => {
  it('that answers and tells nothing is found out, and polled from then on', async () => {
    await using box = await openMailbox({ options: { idle_check_seconds: 0.2 } });
    const { inbox } = await box.receive();
    await eventually(() => box.provider.isIdling(), 'it listens');
    box.provider.deafen();
    await box.say('do you hear me?');
    await eventWith(inbox, 'do you hear me?');
    await eventually(() => box.lines.some((line) => line.includes('email.idle_is_deaf')), 'it is noticed');
    const idles = box.provider.log.filter((name) => name === 'IDLE').length;
    await box.say('and now?');
    await eventWith(inbox, 'and now?');
    assert.equal(box.provider.log.filter((name) => name === 'IDLE').length, idles);
  });

  it('that promises to tell and refuses to is polled', async () => {
    await using box = await openMailbox({ provider: { idle: 'refused' } });
    const { inbox } = await box.receive();
    await box.say('one');
    await eventWith(inbox, 'one');
    await box.say('two');
    await eventWith(inbox, 'two');
  });

  it('is renewed with evidence although it is silent', async () => {
    await using box = await openMailbox({ options: { idle_check_seconds: 0.1 } });
    let alive = 0;
    const inbox = Object.assign(newInbox(), { alive: () => void (alive += 1) });
    await box.receive(inbox);
    await eventually(() => alive >= 4, 'it shows signs of life');
    assert.ok(box.provider.log.filter((name) => name === 'NOOP').length >= 2);
    assert.ok(!box.lines.some((line) => line.includes('deaf')));
  });

  it('that breaks loses nothing: what came meanwhile is fetched by the next', async () => {
    await using box = await openMailbox();
    const { inbox, ended } = await box.receive();
    await box.say('before');
    await eventWith(inbox, 'before');
    await eventually(() => box.provider.acknowledged() === 1 && box.provider.isIdling(), 'it listens');
    box.provider.fail({ what: 'receive', fault: { type: 'refuse' } });
    assert.ok((await ended) instanceof PlatformError);
    await box.say('meanwhile');
    await box.receive(inbox);
    await eventWith(inbox, 'meanwhile');
    assert.deepEqual(offered(inbox), ['before', 'meanwhile']);
  });

  it('that breaks after a mail was stored and before it was marked doubles nothing', async () => {
    await using box = await openMailbox();
    const { inbox, ended } = await box.receive();
    inbox.before = async () => box.provider.freeze(true);
    await box.say('once');
    await eventWith(inbox, 'once');
    box.provider.drop();
    await ended;
    box.provider.freeze(false);
    inbox.before = async () => undefined;
    await box.receive(inbox);
    await eventually(() => inbox.offered.length === 2, 'it was read again');
    assert.deepEqual(texts(inbox), ['once']);
  });
});

describe('a login', () => {
  it('that is refused is a bad credential, and one that is put off is not', async () => {
    await using box = await openMailbox();
    await failure((await box.open({ password: 'wrong' })).identify(never), 'bad_credential');
    box.provider.fail({ what: 'identify', fault: { type: 'status', status: 503 } });
    await failure(box.adapter.identify(never), 'unavailable');
    box.provider.fail({ what: 'identify', fault: { type: 'refuse' } });
    await failure(box.adapter.identify(never), 'unavailable');
    await box.adapter.identify(never);
  });
});
