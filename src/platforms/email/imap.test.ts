import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ImapFlow } from 'imapflow';
import { manualClock, systemClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { eventually, failure, never } from '../conformance-bench.ts';
import { dialImap } from './imap.ts';
import type { ImapLink } from './imap.ts';
import { emailOptions, serversOf } from './options.ts';
import { startEmailSimulator } from './simulator.ts';
import type { EmailSimulator } from './simulator.ts';

describe('a connection to the IMAP server', () => {
  let provider: EmailSimulator;
  beforeEach(async () => {
    provider = await startEmailSimulator();
  });
  afterEach(() => provider[Symbol.asyncDispose]());

  const dial = (signal: AbortSignal = never, clock: Clock = systemClock): Promise<ImapLink> => {
    const options = emailOptions.parse(provider.options);
    return dialImap({ ImapFlow, options, server: serversOf(options).imap, login: { user: options.address, pass: options.password ?? '' }, tls: {}, clock }, signal);
  };

  it('that is only half open is noticed when a question stays without an answer', async () => {
    const clock = manualClock();
    using link = await dial(never, clock);
    provider.freeze(true);
    const asked = failure(link.noop(), 'unavailable');
    await eventually(() => provider.log.at(-1) === 'NOOP', 'the question has left');
    await clock.advance(30_000);
    assert.match((await asked).message, /has not answered for 30 s/);
    await failure(link.lost, 'unavailable');
  });

  it('ends with its caller, whatever it waits for', async () => {
    const stopping = new AbortController();
    using link = await dial(stopping.signal);
    await link.open('INBOX');
    const idling = failure(link.idle(), 'aborted');
    await eventually(() => provider.isIdling(), 'it listens');
    stopping.abort();
    await idling;
    await failure(dial(AbortSignal.abort()), 'aborted');
  });

  it('tells of mail while it waits, and of none before', async () => {
    using link = await dial();
    let told = 0;
    link.onMail(() => (told += 1));
    await link.open('INBOX');
    const idling = link.idle();
    await eventually(() => provider.isIdling(), 'it listens');
    assert.equal(told, 0);
    provider.deliver('From: a@b.c\r\n\r\nx\r\n');
    await eventually(() => told === 1, 'it was told');
    assert.deepEqual(await link.search({ uid: '1:*' }), [1]);
    await idling;
  });

  it('fetches a mail as it is, or its beginning, and knows when it is gone', async () => {
    const raw = `From: a@b.c\r\nSubject: {3}\r\n\r\n${'ü) "x" {5}\r\n'.repeat(50)}`;
    provider.deliver(raw);
    using link = await dial();
    const { uidNext } = await link.open('inbox');
    assert.equal(uidNext, 2);
    assert.equal((await link.fetch(1, { source: true }))?.source?.toString(), raw);
    assert.equal((await link.fetch(1, { source: { start: 0, maxLength: 20 } }))?.source?.toString(), raw.slice(0, 20));
    assert.equal(await link.fetch(7, { source: true }), undefined);
  });

  it('searches by number, day and header', async () => {
    provider.deliver('Message-ID: <old@x>\r\n\r\nx', 'INBOX', new Date(Date.UTC(2026, 0, 1)));
    provider.deliver('Message-ID: <new.one@x>\r\n\r\nx', 'INBOX', new Date(Date.UTC(2026, 5, 1)));
    using link = await dial();
    await link.open('INBOX');
    assert.deepEqual(await link.search({ uid: '2:*' }), [2]);
    assert.deepEqual(await link.search({ since: new Date(Date.UTC(2026, 2, 1)) }), [2]);
    assert.deepEqual(await link.search({ header: { 'message-id': 'old@x' } }), [1]);
    assert.deepEqual(await link.search({ header: { 'message-id': 'newXone@x' } }), []);
  });
});
