import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode } from '../../core/errors.ts';
import type { MediaKind, OutboundMedia } from '../../core/message.ts';
import type { Adapter } from '../contract.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';
import { openAccount, toChat } from '../../../test/support/telegram-account.ts';
import { message } from '../../../test/support/test-account.ts';
import { never } from '../conformance-bench.ts';
import type { TestAccount } from '../../../test/support/test-account.ts';

let folder: string;
let simulator: TelegramSimulator;
let account: TestAccount;
let adapter: Adapter;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'telegram-send-'));
});
after(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  simulator = await startTelegramSimulator();
  account = await openAccount(simulator);
  adapter = account.adapter;
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const shown = (chatId: string) => simulator.visible(chatId).map(({ text }) => text);

const rejectsWith = (promise: Promise<unknown>, code: PlatformErrorCode, check: (error: PlatformError) => boolean = () => true): Promise<void> =>
  assert.rejects(promise, (error) => error instanceof PlatformError && error.code === code && check(error));

const callsOf = (method: string) => simulator.log.filter((call) => call.method === method);

let fileCount = 0;
const file = async (kind: MediaKind, mime: string, name: string, content: string | Uint8Array = name): Promise<OutboundMedia> => {
  fileCount += 1;
  const path = join(folder, String(fileCount));
  await writeFile(path, content);
  return { kind, mime, name, path };
};

describe('text', () => {
  it('arrives as it reads, whatever characters it has', async () => {
    const { messageIds } = await adapter.send(message(toChat('7'), 'Done! Version 1.2 (really) > 90% #1 a-b = c | d'), never);
    assert.deepEqual(shown('7'), ['Done! Version 1.2 (really) > 90% #1 a-b = c | d']);
    assert.deepEqual(messageIds, simulator.visible('7').map(({ id }) => id));
  });

  it('that is plain is sent without markup', async () => {
    await adapter.send(message(toChat('7'), '*not bold_', { plain: true }), never);
    assert.deepEqual(shown('7'), ['*not bold_']);
    assert.equal(callsOf('sendMessage')[0]?.params['parse_mode'], undefined);
  });

  it('of exactly 4096 units made of astral characters passes, one more does not', async () => {
    await adapter.send(message(toChat('7'), '😀'.repeat(2048)), never);
    assert.equal(shown('7')[0]?.length, 4096);
    await rejectsWith(adapter.send(message(toChat('7'), `${'😀'.repeat(2048)}a`), never), 'too_long');
  });

  it('is attached to the message it answers, and still arrives when that is gone', async () => {
    const id = await simulator.say({ chatId: '7', chatType: 'dm', senderId: '7', text: 'q' });
    await adapter.send(message(toChat('7', { replyTo: id }), 'a'), never);
    await adapter.send(message(toChat('7', { replyTo: '99999' }), 'b'), never);
    await adapter.send(message(toChat('7', { replyTo: 'external:1:2' }), 'c'), never);
    assert.deepEqual(simulator.visible('7').map(({ text, replyTo }) => [text, replyTo]), [['a', id], ['b', undefined], ['c', undefined]]);
  });

  it('goes into its topic, and into General without a number', async () => {
    await simulator.say({ chatId: '-100', chatType: 'group', senderId: '7', text: 'x', threadId: '9' });
    await adapter.send(message(toChat('-100', { threadId: '9' }), 'topic'), never);
    await adapter.send(message(toChat('-100', { threadId: '1' }), 'general'), never);
    assert.deepEqual(simulator.visible('-100').map(({ text, threadId }) => [text, threadId]), [['topic', '9'], ['general', '1']]);
  });

  it('for a topic that is gone says what is missing', async () => {
    await rejectsWith(adapter.send(message(toChat('-100', { threadId: '9' }), 'x'), never), 'not_found', ({ facts }) => facts.missing === 'thread');
    await rejectsWith(adapter.send(message(toChat('-100', { threadId: 'none' }), 'x'), never), 'not_found', ({ facts }) => facts.missing === 'thread');
  });

  it('carries buttons, can be quiet and can be without previews', async () => {
    const quiet = await openAccount(simulator, { disable_link_previews: true });
    await quiet.adapter.send(message(toChat('7'), 'ok?', { quiet: true, choices: [[{ label: 'Yes', data: 'y' }], [{ label: 'No', data: 'n' }]] }), never);
    assert.deepEqual(simulator.visible('7')[0]?.choices, [{ label: 'Yes', data: 'y' }, { label: 'No', data: 'n' }]);
    const { disable_notification, link_preview_options } = callsOf('sendMessage')[0]?.params ?? {};
    assert.deepEqual([disable_notification, link_preview_options], [true, { is_disabled: true }]);
  });

  it('of nothing is refused without a call', async () => {
    await rejectsWith(adapter.send(message(toChat('7'), '  '), never), 'rejected');
    assert.equal(simulator.log.length, 0);
  });
});

describe('files', () => {
  for (const [kind, mime, name, method] of [
    ['photo', 'image/png', 'a.png', 'sendPhoto'],
    ['photo', 'image/gif', 'a.gif', 'sendAnimation'],
    ['photo', 'image/svg+xml', 'a.svg', 'sendDocument'],
    ['video', 'video/mp4', 'a.mp4', 'sendVideo'],
    ['video', 'video/x-matroska', 'a.mkv', 'sendDocument'],
    ['animation', 'video/mp4', 'a.mp4', 'sendAnimation'],
    ['audio', 'audio/mpeg', 'a.mp3', 'sendAudio'],
    ['audio', 'audio/flac', 'a.flac', 'sendDocument'],
    ['voice', 'audio/ogg; codecs=opus', 'a.ogg', 'sendVoice'],
    ['sticker', 'image/webp', 'a.webp', 'sendSticker'],
    ['document', 'application/pdf', 'my "report"; final.pdf', 'sendDocument'],
  ] as const) {
    it(`${kind} of ${mime} goes by ${method}`, async () => {
      const { messageIds } = await adapter.send(message(toChat('7'), '', { media: [await file(kind, mime, name, 'bytes of it')] }), never);
      assert.equal(simulator.log.at(-1)?.method, method);
      const [seen] = simulator.visible('7');
      assert.deepEqual(messageIds, [seen?.id]);
      assert.equal(Buffer.from(seen?.media[0]?.bytes ?? []).toString(), 'bytes of it');
      assert.equal(seen?.media[0]?.name, name.replaceAll(/[";]/g, '_'));
    });
  }

  it('take a text that fits as caption, and a longer one behind them', async () => {
    const photo = await file('photo', 'image/png', 'a.png');
    await adapter.send(message(toChat('7'), 'x'.repeat(1024), { media: [photo] }), never);
    await adapter.send(message(toChat('8'), 'x'.repeat(1025), { media: [photo] }), never);
    assert.deepEqual(shown('7').map((text) => text.length), [1024]);
    assert.deepEqual(shown('8').map((text) => text.length), [0, 1025]);
  });

  it('of one kind go as one album with the text on the first', async () => {
    const media = await Promise.all([file('photo', 'image/png', '1.png'), file('video', 'video/mp4', '2.mp4'), file('photo', 'image/jpeg', '3.jpg')]);
    const { messageIds } = await adapter.send(message(toChat('7'), 'three. things', { media }), never);
    assert.deepEqual(simulator.log.map(({ method }) => method), ['sendMediaGroup']);
    assert.equal(messageIds.length, 3);
    assert.deepEqual(simulator.visible('7').map(({ text, media: [item] }) => [text, item?.kind, item?.name]), [['three. things', 'photo', '1.png'], ['', 'video', '2.mp4'], ['', 'photo', '3.jpg']]);
  });

  it('of several kinds keep their order, and are attached once', async () => {
    const media = await Promise.all([file('photo', 'image/png', '1'), file('voice', 'audio/ogg', '2'), file('document', 'text/plain', '3'), file('document', 'text/plain', '4')]);
    const id = await simulator.say({ chatId: '7', chatType: 'dm', senderId: '7', text: 'q' });
    const { messageIds } = await adapter.send(message(toChat('7', { replyTo: id }), '', { media }), never);
    assert.deepEqual(simulator.log.map(({ method }) => method), ['sendPhoto', 'sendVoice', 'sendMediaGroup']);
    assert.deepEqual(simulator.visible('7').map((seen) => seen.media[0]?.name), ['1', '2', '3', '4']);
    assert.deepEqual(simulator.visible('7').map(({ replyTo }) => replyTo), [id, undefined, undefined, undefined]);
    assert.deepEqual(messageIds, simulator.visible('7').map((seen) => seen.id));
  });

  it('with buttons show them where they can be pressed', async () => {
    const photos = await Promise.all([file('photo', 'image/png', '1'), file('photo', 'image/png', '2')]);
    const choices = [[{ label: 'Yes', data: 'y' }]];
    await adapter.send(message(toChat('7'), 'which?', { media: photos, choices }), never);
    assert.deepEqual(simulator.visible('7').map((seen) => [seen.text, seen.choices.length]), [['', 0], ['', 0], ['which?', 1]]);
    await adapter.send(message(toChat('8'), '', { media: photos, choices }), never);
    assert.deepEqual(simulator.visible('8').map((seen) => seen.choices.length), [0, 1]);
  });

  it('go on where they stopped when the message is repeated', async () => {
    const media = await Promise.all([file('photo', 'image/png', '1'), file('voice', 'audio/ogg', '2'), file('photo', 'image/png', '3')]);
    const outgoing = message(toChat('7'), 'words', { media });
    simulator.fail({ what: 'send', fault: { type: 'delay', ms: 0 } });
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 1000 } });
    await rejectsWith(adapter.send(outgoing, never), 'rate_limited');
    const { messageIds } = await adapter.send(outgoing, never);
    assert.deepEqual(simulator.visible('7').map((seen) => seen.media[0]?.name), ['1', '2', '3']);
    assert.deepEqual(messageIds, simulator.visible('7').map((seen) => seen.id));
    assert.deepEqual(await account.data.list(''), []);
  });

  it('that are missing or too large are refused before anything is sent', async () => {
    const huge = await file('document', 'application/zip', 'huge.zip');
    await truncate(huge.path, 51 * 1024 * 1024);
    const missing = { ...huge, path: join(folder, 'nowhere') };
    const fine = await file('photo', 'image/png', 'fine');
    await rejectsWith(adapter.send(message(toChat('7'), '', { media: [fine, huge] }), never), 'too_large');
    await rejectsWith(adapter.send(message(toChat('7'), '', { media: [fine, missing] }), never), 'not_found', ({ facts }) => facts.missing === 'file');
    await truncate(fine.path, 0);
    await rejectsWith(adapter.send(message(toChat('7'), '', { media: [fine] }), never), 'not_found', ({ facts }) => facts.file === fine.name);
    assert.equal(simulator.log.length, 0);
  });

  it('larger than a photo may be go as documents', async () => {
    const photo = await file('photo', 'image/png', 'big.png');
    await truncate(photo.path, 11 * 1024 * 1024);
    await adapter.send(message(toChat('7'), '', { media: [photo] }), never);
    assert.equal(simulator.log.at(-1)?.method, 'sendDocument');
  });
});

describe('a failing send', () => {
  const send = (signal: AbortSignal = never) => adapter.send(message(toChat('7'), 'hello'), signal);

  it('with a lost answer is of unknown outcome', async () => {
    simulator.fail({ what: 'send', fault: { type: 'drop_answer' } });
    await rejectsWith(send(), 'unknown_outcome');
    assert.deepEqual(shown('7'), ['hello']);
  });

  it('with a connection that breaks after the request has left is of unknown outcome', async () => {
    simulator.fail({ what: 'send', fault: { type: 'refuse' } });
    await rejectsWith(send(), 'unknown_outcome');
    assert.deepEqual(shown('7'), []);
  });

  it('without a connection is certainly not sent', async () => {
    await simulator.goOffline();
    await rejectsWith(send(), 'unavailable');
    await simulator.goOnline();
    await send();
    assert.deepEqual(shown('7'), ['hello']);
  });

  it('with an unreadable answer is of unknown outcome', async () => {
    simulator.fail({ what: 'send', fault: { type: 'garbage' } });
    await rejectsWith(send(), 'unknown_outcome');
  });

  it('that hangs ends when aborted, and by itself when it stays silent too long', async () => {
    simulator.fail({ what: 'send', fault: { type: 'hang' }, count: 2 });
    await rejectsWith(send(AbortSignal.timeout(20)), 'aborted');
    const impatient = await openAccount(simulator, { request_timeout_seconds: 2 });
    await rejectsWith(impatient.adapter.send(message(toChat('7'), 'x'), never), 'unknown_outcome');
  });

  for (const [fault, code] of [
    [{ type: 'status', status: 500 }, 'unavailable'],
    [{ type: 'status', status: 403 }, 'forbidden'],
    [{ type: 'status', status: 401 }, 'bad_credential'],
    [{ type: 'status', status: 400, description: 'Bad Request: chat not found' }, 'chat_gone'],
    [{ type: 'status', status: 400, description: "Bad Request: can't parse entities: x" }, 'bad_format'],
  ] as const) {
    it(`with ${JSON.stringify(fault)} is ${code}`, async () => {
      simulator.fail({ what: 'send', fault });
      await rejectsWith(send(), code);
    });
  }

  it('with 429 says how long the chat must wait', async () => {
    simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 17_000 } });
    await rejectsWith(send(), 'rate_limited', ({ facts }) => facts.retryAfterMs === 17_000 && facts.scope === 'chat');
  });

  it('to a group that became a supergroup says where it is now', async () => {
    simulator.refuseChat('-5', { status: 400, description: 'Bad Request: group chat was upgraded to a supergroup chat', movedTo: -1005 });
    await rejectsWith(adapter.send(message(toChat('-5'), 'x'), never), 'chat_gone', ({ facts }) => facts.movedToChatId === '-1005');
  });

  it('never shows the token, in whatever way it fails', async () => {
    const faults = [{ type: 'refuse' }, { type: 'drop_answer' }, { type: 'garbage' }, { type: 'status', status: 401 }, { type: 'status', status: 500 }] as const;
    const errors: unknown[] = [];
    for (const fault of faults) {
      simulator.fail({ what: 'any', fault });
      errors.push(await send().catch((error: unknown) => error));
    }
    await simulator.goOffline();
    errors.push(await send().catch((error: unknown) => error));
    errors.push(await adapter.identify(never).catch((error: unknown) => error));
    await simulator.goOnline();
    const { inspect } = await import('node:util');
    for (const error of errors) {
      assert.ok(error instanceof PlatformError);
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(simulator.token));
    }
  });
});
