import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode } from '../../core/errors.ts';
import type { MediaRef } from '../../core/message.ts';
import type { Adapter } from '../contract.ts';
import { menuCommands } from './menu.ts';
import { telegramOptions } from './options.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';
import { openAccount, runAccount, toChat } from '../../../test/support/telegram-account.ts';
import { message } from '../../../test/support/test-account.ts';
import { never } from '../conformance-bench.ts';

let simulator: TelegramSimulator;
let adapter: Adapter;

beforeEach(async () => {
  simulator = await startTelegramSimulator();
  adapter = (await openAccount(simulator)).adapter;
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const rejectsWith = (promise: Promise<unknown>, code: PlatformErrorCode): Promise<void> => assert.rejects(promise, (error) => error instanceof PlatformError && error.code === code);

const sent = async (text: string): Promise<string> => (await adapter.send(message(toChat('7'), text), never)).messageIds[0] ?? '';

describe('identify', () => {
  it('learns who we are', async () => {
    assert.deepEqual(await adapter.identify(never), { id: String(simulator.bot.id), name: 'Hermes', handle: simulator.bot.username });
  });

  it('reports a credential that Telegram refuses', async () => {
    const { adapter: stranger } = await openAccount(simulator, simulator.badOptions);
    await rejectsWith(stranger.identify(never), 'bad_credential');
  });

  it('works with the root written as other clients want it', async () => {
    for (const base_url of [`${simulator.baseUrl}/`, `${simulator.baseUrl}/bot`, `${simulator.baseUrl}/bot/`]) {
      const { adapter: other } = await openAccount(simulator, { base_url });
      assert.equal((await other.identify(never)).name, 'Hermes');
    }
  });
});

describe('edits', () => {
  it('on the way are plain, the last one is formatted', async () => {
    const id = await sent('…');
    await adapter.edits?.edit(id, message(toChat('7'), 'half a *sent'), false, never);
    assert.equal(simulator.log.at(-1)?.params['parse_mode'], undefined);
    await adapter.edits?.edit(id, message(toChat('7'), 'whole. sentence!'), true, never);
    assert.equal(simulator.log.at(-1)?.params['parse_mode'], 'MarkdownV2');
    assert.deepEqual(simulator.visible('7').map(({ text, edited }) => [text, edited]), [['whole. sentence!', 2]]);
  });

  it('with the same text again succeed', async () => {
    const id = await sent('same');
    await adapter.edits?.edit(id, message(toChat('7'), 'same'), true, never);
    assert.equal(simulator.visible('7')[0]?.edited, 0);
  });

  it('may be repeated after a lost answer', async () => {
    const id = await sent('one');
    simulator.fail({ what: 'edit', fault: { type: 'drop_answer' } });
    await rejectsWith(adapter.edits?.edit(id, message(toChat('7'), 'two'), true, never) ?? Promise.resolve(), 'unavailable');
    await adapter.edits?.edit(id, message(toChat('7'), 'two'), true, never);
    assert.deepEqual(simulator.visible('7').map(({ text }) => text), ['two']);
  });

  it('of a message that is gone say so, removing it twice does not matter', async () => {
    const id = await sent('gone');
    await adapter.edits?.remove(toChat('7'), id, never);
    await adapter.edits?.remove(toChat('7'), id, never);
    assert.deepEqual(simulator.visible('7'), []);
    await rejectsWith(adapter.edits?.edit(id, message(toChat('7'), 'x'), true, never) ?? Promise.resolve(), 'not_found');
  });
});

describe('signs', () => {
  it('of typing show in the chat, also in General and in topics', async () => {
    await simulator.say({ chatId: '-100', chatType: 'group', senderId: '7', text: 'x', threadId: '9' });
    for (const threadId of ['9', '1']) await adapter.typing?.show(toChat('-100', { threadId }), never);
    await adapter.typing?.show(toChat('7'), never);
    assert.deepEqual(simulator.typing(), ['-100', '-100', '7']);
    assert.deepEqual(simulator.log.map(({ params }) => params['message_thread_id']), [9, 1, undefined]);
    assert.equal(adapter.typing?.everyMs, 4000);
  });

  it('of reaction are set, replaced and taken away', async () => {
    const id = await simulator.say({ chatId: '7', chatType: 'dm', senderId: '7', text: 'x' });
    await adapter.reactions?.set(toChat('7'), id, '👀', never);
    assert.deepEqual(simulator.reactionsOn('7', id), ['👀']);
    await adapter.reactions?.set(toChat('7'), id, '❤️', never);
    assert.deepEqual(simulator.reactionsOn('7', id), ['❤']);
    await adapter.reactions?.set(toChat('7'), id, null, never);
    assert.deepEqual(simulator.reactionsOn('7', id), []);
    await rejectsWith(adapter.reactions?.set(toChat('7'), id, '🦥', never) ?? Promise.resolve(), 'unsupported');
  });

  it('of reaction are left out unless the owner wants them', async () => {
    assert.equal((await openAccount(simulator, { reactions: false })).adapter.reactions, undefined);
  });
});

describe('buttons', () => {
  it('come back as events and are answered once', async () => {
    const { messageIds } = await adapter.send(message(toChat('7'), 'ok?', { choices: [[{ label: 'Yes', data: 'y:1' }]] }), never);
    const { inbox, stop } = await runAccount(adapter);
    const id = await simulator.press('7', messageIds[0] ?? '', 'y:1', '7');
    await inbox.reached(1);
    const [event] = inbox.events;
    assert.ok(event);
    assert.deepEqual([event.kind, event.nativeId, event.button?.data, event.messageId], ['button', id, 'y:1', messageIds[0]]);
    await adapter.choices?.answer(event, 'x'.repeat(300), never);
    assert.deepEqual(simulator.callbackAnswers(), [{ id, text: 'x'.repeat(200) }]);
    await rejectsWith(adapter.choices?.answer({ ...event, nativeId: 'old' }, undefined, never) ?? Promise.resolve(), 'not_found');
    await stop();
  });
});

describe('files of events', () => {
  const received = async (bytes: Uint8Array): Promise<MediaRef> => {
    const { inbox, stop } = await runAccount(adapter);
    await simulator.say({ chatId: '7', chatType: 'dm', senderId: '7', text: 'see', media: { kind: 'document', bytes, name: 'a.bin', mime: 'application/x-a' } });
    await inbox.reached(1);
    await stop();
    const [media] = inbox.events[0]?.media ?? [];
    assert.ok(media);
    return media;
  };
  const read = async (media: MediaRef, signal = never): Promise<Buffer> => {
    const stream = await adapter.media?.open(media, signal);
    const chunks: Uint8Array[] = [];
    const reader = stream?.getReader();
    for (;;) {
      const next = await reader?.read();
      if (next === undefined || next.done) return Buffer.concat(chunks);
      chunks.push(next.value);
    }
  };

  it('can be read, also by an adapter opened later', async () => {
    const media = await received(Buffer.alloc(300_000, 'ab'));
    assert.deepEqual([media.kind, media.mime, media.name, media.sizeBytes], ['document', 'application/x-a', 'a.bin', 300_000]);
    adapter = (await openAccount(simulator)).adapter;
    assert.deepEqual(await read(JSON.parse(JSON.stringify(media)) as MediaRef), Buffer.alloc(300_000, 'ab'));
  });

  it('that are too large are refused, whatever size was announced', async () => {
    const media = await received(new Uint8Array(20 * 1024 * 1024 + 1));
    await rejectsWith(read(media), 'too_large');
    const { sizeBytes: _unknown, ...unsized } = media;
    await rejectsWith(read(unsized), 'too_large');
  });

  it('that turn out larger than they were said to be are cut off', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    const server = createServer(async (request, response) => {
      if (request.url?.endsWith('getFile')) return void response.end(JSON.stringify({ ok: true, result: { file_id: 'f', file_unique_id: 'u', file_size: 5, file_path: 'a' } }));
      for (let index = 0; index < 30 && !response.destroyed; index += 1) if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { adapter: deceived } = await openAccount(simulator, { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    adapter = deceived;
    await rejectsWith(read({ kind: 'document', mime: 'a/b', ref: { file_id: 'f' } }), 'too_large');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('that Telegram has no more are not found', async () => {
    await rejectsWith(read({ kind: 'document', mime: 'a/b', ref: { file_id: 'none' } }), 'not_found');
  });

  it('end with the code of what went wrong', async () => {
    const media = await received(Buffer.from('x'));
    for (const fault of [{ type: 'delay', ms: 0 }, { type: 'status', status: 502 }] as const) simulator.fail({ what: 'download', fault });
    await rejectsWith(read(media), 'unavailable');
    for (const fault of [{ type: 'delay', ms: 0 }, { type: 'drop_answer' }] as const) simulator.fail({ what: 'download', fault });
    await rejectsWith(read(media), 'unavailable');
    simulator.fail({ what: 'download', fault: { type: 'hang' } });
    await rejectsWith(read(media, AbortSignal.timeout(20)), 'aborted');
  });
});

describe('threads', () => {
  it('open in forums and in direct chats, and carry messages', async () => {
    simulator.makeForum('-100');
    for (const chat of [toChat('-100', { replyTo: '5' }), toChat('7')]) {
      const thread = await adapter.threads?.open(chat, ' Plans ', never);
      assert.equal(simulator.topics(chat.chatId).get(Number(thread?.threadId)), 'Plans');
      assert.deepEqual([thread?.chatId, thread?.chatType, thread?.replyTo], [chat.chatId, chat.chatType, undefined]);
      assert.ok(thread);
      await adapter.send(message(thread, 'inside'), never);
      assert.equal(simulator.visible(chat.chatId)[0]?.threadId, thread.threadId);
    }
  });

  it('do not open where there can be none', async () => {
    assert.equal(await adapter.threads?.open(toChat('-200'), 'x', never), undefined);
    assert.equal(await adapter.threads?.open(toChat('-300', { chatType: 'channel' }), 'x', never), undefined);
  });
});

describe('the command menu', () => {
  it('is published with names that Telegram allows', async () => {
    await adapter.menu?.publish([{ name: 'Reload-MCP', description: 'Reload' }, { name: 'stop', description: '' }], never);
    assert.deepEqual(simulator.commands(), [{ command: 'reload_mcp', description: 'Reload' }, { command: 'stop', description: 'stop' }]);
  });

  it('keeps the first of two equal names, as many as wanted, and cuts long ones', () => {
    const { command_menu: order } = telegramOptions.parse(simulator.options);
    const many = Array.from({ length: 120 }, (_, index) => ({ name: `c${index}`, description: 'd' }));
    assert.equal(menuCommands(many, order).length, 60);
    assert.deepEqual(menuCommands(many, { ...order, max_commands: 2, priority: ['/c7', 'c9'] }).map(({ command }) => command), ['c7', 'c9']);
    const cut = menuCommands([{ name: 'x'.repeat(40), description: 'y'.repeat(300) }, { name: 'a-b', description: '1' }, { name: 'a_b', description: '2' }, { name: '日本', description: '3' }], order);
    assert.deepEqual(cut.map(({ command, description }) => [command.length, description.length]), [[32, 256], [3, 1]]);
  });
});
