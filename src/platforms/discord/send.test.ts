import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { openAccount, toChat } from './discord.test-support.ts';
import { message } from '../../../test/support/test-account.ts';
import { never } from '../conformance-bench.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode, PlatformErrorFacts } from '../../core/errors.ts';
import type { OutboundMedia } from '../../core/message.ts';
import { oggOpus } from './ogg-opus.test-support.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator } from './simulator.ts';

let simulator: DiscordSimulator;
let account: TestAccount;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-discord-'));
});
after(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  simulator = await startDiscordSimulator();
  account = await openAccount(simulator);
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const channel = () => toChat(simulator.ids.text);
const shown = (chatId: string = simulator.ids.text) => simulator.visible(chatId);
const lastBody = () => simulator.log.findLast(({ method }) => method !== 'GET')?.body ?? {};
const calls = (method: string, path: RegExp) => simulator.log.filter((call) => call.method === method && path.test(call.path));

const fails = async (work: Promise<unknown>, code: PlatformErrorCode, facts: Partial<PlatformErrorFacts> = {}): Promise<void> => {
  const error: unknown = await work.then(() => assert.fail('it succeeded'), (reason: unknown) => reason);
  assert.ok(error instanceof PlatformError, String(error));
  assert.deepEqual([error.code, { ...error.facts, ...facts }], [code, error.facts]);
};

const file = async (name: string, content: string | Uint8Array, more: Partial<OutboundMedia> = {}): Promise<OutboundMedia> => {
  const path = join(folder, name);
  await writeFile(path, content);
  return { kind: 'document', mime: 'text/plain', name, path, ...more };
};

describe('a message', () => {
  it('pings nobody by accident', async () => {
    await account.adapter.send(message(channel(), 'Hello @everyone, <@&5> and <@6>'), never);
    assert.deepEqual(lastBody()['allowed_mentions'], { parse: ['users'], replied_user: true });
    const strict = await openAccount(simulator, { allow_mention_users: false, allow_mention_replied_user: false });
    await strict.adapter.send(message(channel(), 'Hello <@6>'), never);
    assert.deepEqual(lastBody()['allowed_mentions'], { parse: [], replied_user: false });
  });

  it('is silent, or without previews, when it should be', async () => {
    await account.adapter.send(message(channel(), 'softly', { quiet: true }), never);
    assert.equal(lastBody()['flags'], 4096);
    const bare = await openAccount(simulator, { suppress_embeds: true });
    await bare.adapter.send(message(channel(), 'https://example.org'), never);
    assert.equal(lastBody()['flags'], 4);
  });

  it('whose anchor is gone is sent without it', async () => {
    await account.adapter.send(message(toChat(simulator.ids.text, { replyTo: '5' }), 'late'), never);
    assert.deepEqual(shown().map(({ text, replyTo }) => [text, replyTo]), [['late', undefined]]);
  });

  it('with many choices has them in rows that Discord takes', async () => {
    const choices = Array.from({ length: 9 }, (_, index) => [{ label: `Option ${index} ${'x'.repeat(90)}`, data: `o:${index}` }]);
    await account.adapter.send(message(channel(), 'Which?', { choices }), never);
    assert.deepEqual(shown()[0]?.choices.map(({ data }) => data), choices.flat().map(({ data }) => data));
  });

  it('to a thread goes there, however the target is written', async () => {
    await account.adapter.send(message(toChat(simulator.ids.text, { threadId: simulator.ids.thread }), 'by both'), never);
    await account.adapter.send(message(toChat(simulator.ids.thread, { chatType: 'thread', threadId: simulator.ids.thread }), 'by one'), never);
    assert.deepEqual(shown(simulator.ids.thread).map(({ text }) => text), ['by both', 'by one']);
  });

  it('to a forum becomes a post, and its further pieces stand below', async () => {
    const forum = toChat(simulator.ids.forum, { chatType: 'channel' });
    const first = await account.adapter.send({ key: 'job:7:1', target: forum, text: '# Weekly report\nAll is well.' }, never);
    await account.adapter.send({ key: 'job:7:2', target: forum, text: 'And more.' }, never);
    await account.adapter.send({ key: 'job:8', target: forum, text: 'Another.' }, never);
    const posts = simulator.threads().filter(({ parentId }) => parentId === simulator.ids.forum);
    assert.deepEqual(posts.map(({ name }) => name), ['Weekly report', 'Another.']);
    assert.deepEqual(shown(posts[0]?.id).map(({ text }) => text), ['Weekly report\nAll is well.', 'And more.']);
    assert.deepEqual(first.messageIds, [posts[0]?.id]);
  });
});

describe('a repeat', () => {
  it('of a message whose answer was lost is shown once, also by another process', async () => {
    const sent = message(channel(), 'once');
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await fails(account.adapter.send(sent, never), 'unknown_outcome');
    const other = await openAccount(simulator);
    const { messageIds } = await other.adapter.send(sent, never);
    assert.deepEqual(shown().map(({ id }) => id), messageIds);
    assert.equal(String(lastBody()['nonce']).length, 25);
  });

  it('of a message in several parts goes on where it stopped', async () => {
    const media = [await file('a.txt', 'a'), await file('v.ogg', oggOpus(1), { kind: 'voice', mime: 'audio/ogg' })];
    const sent = message(channel(), 'words', { media });
    simulator.fail({ what: 'send', fault: { type: 'delay', ms: 0 } });
    simulator.fail({ what: 'send', fault: { type: 'status', status: 403 } });
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 10 } });
    await fails(account.adapter.send(sent, never), 'forbidden');
    simulator.fail({ what: 'send', fault: { type: 'delay', ms: 0 } });
    await fails(account.adapter.send({ ...sent, key: 'again' }, never), 'rate_limited');
    const { messageIds } = await account.adapter.send({ ...sent, key: 'again' }, never);
    assert.equal(messageIds.length, 2);
    assert.equal(calls('POST', /messages$/).length, 5);
  });

  it('has another nonce for another message', async () => {
    await account.adapter.send(message(channel(), 'same', { key: 'one' }), never);
    await account.adapter.send(message(channel(), 'same', { key: 'two' }), never);
    assert.equal(shown().length, 2);
  });
});

describe('files', () => {
  it('go with the words, ten at a time', async () => {
    const media = await Promise.all(Array.from({ length: 12 }, (_, index) => file(`f${index}.txt`, `content ${index}`)));
    const { messageIds } = await account.adapter.send(message(channel(), 'All of them', { media }), never);
    assert.deepEqual(shown().map(({ id, text, media: there }) => [id, text, there.length]), [[messageIds[0], 'All of them', 10], [messageIds[1], '', 2]]);
    assert.equal(Buffer.from(shown()[1]?.media[1]?.bytes ?? []).toString(), 'content 11');
  });

  it('with awkward names arrive with names that fit', async () => {
    const media = [await file('plain.txt', 'x', { name: 'a "quoted"\r\nname.txt' })];
    await account.adapter.send(message(channel(), '', { media }), never);
    assert.equal(shown()[0]?.media[0]?.name, 'a _quoted___name.txt');
  });

  it('that are too large or gone are refused before anything is sent', async () => {
    const small = await openAccount(simulator, { max_upload_mb: 1 });
    await fails(small.adapter.send(message(channel(), 'x', { media: [await file('big.bin', new Uint8Array(1024 * 1024 + 1))] }), never), 'too_large');
    await fails(account.adapter.send(message(channel(), 'x', { media: [{ kind: 'document', mime: 'a/b', name: 'gone', path: join(folder, 'gone') }] }), never), 'not_found', { missing: 'file' });
    assert.equal(calls('POST', /./).length, 0);
  });
});

describe('voice messages', () => {
  it('are sent as recordings, with their length and their shape, behind the words', async () => {
    const media = [await file('answer.ogg', oggOpus(3), { kind: 'voice', mime: 'audio/ogg' })];
    await account.adapter.send(message(channel(), 'Listen', { media }), never);
    assert.deepEqual(shown().map(({ text, media: there }) => [text, there[0]?.kind]), [['Listen', undefined], ['', 'voice']]);
    const [attachment] = lastBody()['attachments'] as [{ duration_secs: number; waveform: string }];
    assert.equal(attachment.duration_secs, 3);
    assert.ok(Buffer.from(attachment.waveform, 'base64').length <= 256);
    assert.equal(lastBody()['flags'], 8192);
  });

  it('in another format are sent as files', async () => {
    const media = [await file('answer.mp3', 'ID3', { kind: 'voice', mime: 'audio/mpeg' })];
    await account.adapter.send(message(channel(), 'Listen', { media }), never);
    assert.deepEqual(shown().map(({ media: there }) => there[0]?.kind), ['audio']);
  });
});

describe('limits', () => {
  it('on a channel leave the others alone', async () => {
    simulator.limits.channels.set(simulator.ids.text, 7.5);
    await fails(account.adapter.send(message(channel(), 'x'), never), 'rate_limited', { retryAfterMs: 7500, scope: 'chat' });
    await account.adapter.send(message(toChat(simulator.ids.announcements, { chatType: 'channel' }), 'fine'), never);
  });

  it('on the account cover everything, and nothing more is asked meanwhile', async () => {
    simulator.limits.global = 30;
    await fails(account.adapter.send(message(channel(), 'x'), never), 'rate_limited', { retryAfterMs: 30_000, scope: 'account' });
    simulator.limits.global = 0;
    const before = simulator.log.length;
    const error = await account.adapter.send(message(toChat(simulator.ids.dm, { chatType: 'dm' }), 'y'), never).catch((reason: unknown) => reason);
    assert.ok(error instanceof PlatformError && error.facts.scope === 'account' && (error.facts.retryAfterMs ?? 0) > 20_000);
    assert.equal(simulator.log.length, before);
  });

  it('that Discord announces are kept before it has to refuse', async () => {
    simulator.limits.exhausted.set(`POST ${simulator.ids.text}`, 20);
    await account.adapter.send(message(channel(), 'the last one'), never);
    const before = simulator.log.length;
    await fails(account.adapter.send(message(channel(), 'one more'), never), 'rate_limited', { scope: 'chat' });
    assert.equal(simulator.log.length, before);
    await account.adapter.send(message(toChat(simulator.ids.thread, { chatType: 'thread' }), 'elsewhere'), never);
  });

  it('of the wall in front of Discord cover everything', async () => {
    simulator.fail({ what: 'send', fault: { type: 'status', status: 429 } });
    await fails(account.adapter.send(message(channel(), 'x'), never), 'rate_limited', { scope: 'account' });
  });
});

describe('refusals', () => {
  for (const [what, target, code] of [
    ['a channel that does not exist', '42', 'chat_gone'],
    ['something that is no id', 'general', 'chat_gone'],
  ] as const) {
    it(`of ${what} are ${code}`, async () => {
      await fails(account.adapter.send(message(toChat(target, { chatType: 'dm' }), 'x'), never), code);
    });
  }

  it('of a text that is too long are called that', async () => {
    await fails(account.adapter.send(message(channel(), '_'.repeat(1500), { plain: true }), never), 'too_long');
  });

  it('carry neither the token nor what was sent', async () => {
    const { inspect } = await import('node:util');
    simulator.fail({ what: 'send', fault: { type: 'status', status: 400 } });
    const error = await account.adapter.send(message(channel(), 'private words'), never).catch((reason: unknown) => reason);
    const told = inspect(error, { depth: 10, showHidden: true });
    assert.ok(!told.includes(simulator.token) && !told.includes('private words'), told);
  });
});
