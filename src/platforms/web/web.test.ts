import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PlatformError } from '../../core/errors.ts';
import { silentLogger } from '../../lib/logger.ts';
import { web } from './index.ts';
import { webOptions } from './options.ts';
import { account, follow, isReady, outbound, post, signal, start, texts, withFolder } from './web.test-support.ts';
import type { ChatsAnswer, MessagesAnswer } from './wire.ts';

test('a message is shown to every tab and reaches the gateway once, however often it is posted', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const body = { id: 'message-1', text: 'Hello **there**', files: [] };
    const first = await post(`${page.url}/chats/chat-one/messages`, body);
    assert.deepEqual(await first.json(), { seq: 1, accepted: 'stored' });
    const again = await post(`${page.url}/chats/chat-one/messages`, body);
    assert.deepEqual(await again.json(), { seq: 1, accepted: 'duplicate' });
    assert.equal(page.gateway.events.length, 1);
    const { sentAtMs, ...event } = page.gateway.events[0] ?? assert.fail('no event');
    assert.ok(Math.abs(sentAtMs - Date.now()) < 60_000);
    assert.deepEqual(event, {
      account,
      kind: 'message',
      nativeId: 'message-1',
      messageId: 'message-1',
      chat: { id: 'chat-one', type: 'dm' },
      sender: { id: 'owner', name: 'Owner', isBot: false },
      text: 'Hello **there**',
      media: [],
      addressed: true,
      mentioned: false,
    });
    const frames = await follow(`${page.url}/events?after=0`, isReady);
    assert.deepEqual(texts(frames), ['Hello **there**']);
  }));

test('a message that the gateway could not store is not acknowledged, and posting it again delivers it', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    page.gateway.break(true);
    const body = { id: 'message-1', text: 'Keep me', files: [] };
    assert.equal((await post(`${page.url}/chats/chat-one/messages`, body)).status, 503);
    page.gateway.break(false);
    assert.equal((await post(`${page.url}/chats/chat-one/messages`, body)).status, 200);
    assert.equal(page.gateway.events.length, 1);
    assert.deepEqual(texts(await follow(`${page.url}/events?after=0`, isReady)), ['Keep me']);
  }));

test('what is not a message is refused without an event', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    for (const body of [{}, { id: 'message-1', text: '   ', files: [] }, { id: 'short', text: 'x', files: [] }, { id: 'message-1', text: 'x'.repeat(100_001), files: [] }, { id: 'message-1', text: '', files: ['file_nothere0000'] }]) {
      assert.equal((await post(`${page.url}/chats/chat-one/messages`, body)).status, 400);
    }
    assert.equal((await fetch(`${page.url}/chats/chat-one/messages`, { method: 'POST', body: '{' })).status, 400);
    assert.equal((await post(`${page.url}/chats/${encodeURIComponent('../x')}/messages`, { id: 'message-1', text: 'x', files: [] })).status, 400);
    assert.equal((await fetch(`${page.url}/nowhere`)).status, 404);
    assert.equal(page.gateway.events.length, 0);
  }));

test('routes answer 503 when the account does not run, and its streams end', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const stream = await fetch(`${page.url}/events?after=0`);
    await page.stop();
    await stream.text();
    assert.equal((await fetch(`${page.url}/chats`)).status, 503);
  }));

test('an answer is sent once per key, and a repeat gives the first id', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const first = await page.adapter.send(outbound('key-1', 'The answer'), signal);
    const repeat = await page.adapter.send(outbound('key-1', 'The answer'), signal);
    const second = await page.adapter.send(outbound('key-2', 'Another'), signal);
    assert.deepEqual(first, { messageIds: ['a1'] });
    assert.deepEqual(repeat, first);
    assert.notDeepEqual(second, first);
    assert.deepEqual(texts(await follow(`${page.url}/events?after=0`, isReady)), ['The answer', 'Another']);
  }));

test('live edits are shown as they grow and stored only when final', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const edits = page.adapter.edits ?? assert.fail('no edits');
    const { messageIds } = await page.adapter.send(outbound('key-1', 'The'), signal);
    const id = messageIds[0] ?? assert.fail('no id');
    const ready = Promise.withResolvers<void>();
    const watching = follow(`${page.url}/events?after=0`, (frames) => {
      if (isReady(frames)) ready.resolve();
      return frames.some((frame) => 'entry' in frame && frame.entry.type === 'edit');
    });
    await ready.promise;
    await edits.edit(id, outbound('key-1', 'The quick'), false, signal);
    await edits.edit(id, outbound('key-1', 'The quick brown'), false, signal);
    const joined = await follow(`${page.url}/events?after=1`, isReady);
    assert.deepEqual(joined, [{ type: 'live', chat: 'chat-one', id, at: 0, text: 'The quick brown' }, { type: 'ready' }]);
    await edits.edit(id, outbound('key-1', 'The quick brown **fox**'), true, signal);
    const frames = (await watching).filter((frame) => 'type' in frame && frame.type === 'live');
    assert.deepEqual(frames, [
      { type: 'live', chat: 'chat-one', id, at: 0, text: 'The quick' },
      { type: 'live', chat: 'chat-one', id, at: 9, text: ' brown' },
    ]);
    const later = await follow(`${page.url}/events?after=0`, isReady);
    assert.deepEqual(texts(later), ['The', 'The quick brown **fox**']);
    assert.equal(later.some((frame) => 'type' in frame && frame.type === 'live'), false);
  }));

test('editing or removing a message that does not exist is not_found', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const edits = page.adapter.edits ?? assert.fail('no edits');
    const isMissing = (error: unknown): boolean => error instanceof PlatformError && error.code === 'not_found' && error.facts.missing === 'message';
    await assert.rejects(edits.edit('a99', outbound('key', 'x'), true, signal), isMissing);
    await assert.rejects(edits.edit('a99', outbound('key', 'x'), false, signal), isMissing);
    await assert.rejects(edits.remove({ account, chatId: 'chat-one', chatType: 'dm' }, 'nonsense', signal), isMissing);
  }));

test('a reader that comes back with its cursor gets what it missed and nothing twice', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    // Eight at a time: each looks again when another has changed the chat meanwhile.
    for (let i = 0; i < 248; i += 8) await Promise.all(Array.from({ length: 8 }, (_, k) => page.adapter.send(outbound(`key-${i + k}`, 'Early'), signal)));
    for (const i of [249, 250]) await page.adapter.send(outbound(`key-${i}`, `Text ${i}`), signal);
    assert.equal(texts(await follow(`${page.url}/events?after=0`, isReady)).length, 250);
    assert.deepEqual(texts(await follow(`${page.url}/events?after=248`, isReady)), ['Text 249', 'Text 250']);
    assert.deepEqual(texts(await follow(`${page.url}/events?after=0`, isReady, { 'last-event-id': '249' })), ['Text 250']);
    assert.deepEqual(texts(await follow(`${page.url}/events`, isReady)), []);
  }));

test('a reader that takes nothing is cut off when too much waits for it', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const edits = page.adapter.edits ?? assert.fail('no edits');
    const { messageIds } = await page.adapter.send(outbound('key-1', 'x'), signal);
    const answer = await fetch(`${page.url}/events?after=0`);
    const reader = answer.body?.getReader() ?? assert.fail('no stream');
    await reader.read();
    await follow(`${page.url}/events?after=0`, isReady);
    for (let sent = 0; sent < 3000; sent += 1) {
      await edits.edit(messageIds[0] ?? '', outbound('key-1', `${sent} ${'x'.repeat(16_000)}`), false, signal);
      if (sent % 50 === 0) await delay(1);
    }
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    });
    assert.deepEqual(texts(await follow(`${page.url}/events?after=0`, isReady)), ['x']);
  }));

test('chats are listed newest first with the first words as their title, until they are hidden', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const list = async () => (await (await fetch(`${page.url}/chats`)).json()) as ChatsAnswer;
    await post(`${page.url}/chats/chat-one/messages`, { id: 'message-1', text: '**Plan** a trip to the mountains with many friends, three dogs and a tent', files: [] });
    await delay(2);
    await post(`${page.url}/chats/chat-two/messages`, { id: 'message-2', text: 'Hi', files: [] });
    const before = await list();
    assert.deepEqual(before.chats.map(({ id, title }) => ({ id, title })), [
      { id: 'chat-two', title: 'Hi' },
      { id: 'chat-one', title: 'Plan a trip to the mountains with many friends, three dogs…' },
    ]);
    assert.deepEqual([before.title, before.cursor], ['Test', 2]);
    assert.equal((await fetch(`${page.url}/chats/chat-two`, { method: 'DELETE' })).status, 200);
    assert.deepEqual((await list()).chats.map((chat) => chat.id), ['chat-one']);
    await page.adapter.send(outbound('key', 'Still here', { target: { account, chatId: 'chat-two', chatType: 'dm' } }), signal);
    assert.deepEqual((await list()).chats.map((chat) => chat.title), ['Hi', 'Plan a trip to the mountains with many friends, three dogs…']);
  }));

test('a chat is called what its conversation is called, in the list and for those who look at it now', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    await post(`${page.url}/chats/chat-one/messages`, { id: 'message-1', text: 'Plan a trip', files: [] });
    await page.adapter.names?.set({ account, chatId: 'chat-one', chatType: 'dm' }, 'Trip to Rome', signal);
    await page.adapter.names?.set({ account, chatId: 'chat-nobody', chatType: 'dm' }, 'Nothing', signal);
    const titles = async () => ((await (await fetch(`${page.url}/chats`)).json()) as ChatsAnswer).chats.map((chat) => chat.title);
    assert.deepEqual(await titles(), ['Trip to Rome']);
    await page.adapter.send(outbound('key', 'An answer'), signal);
    assert.deepEqual(await titles(), ['Trip to Rome']);
    const { frames } = (await (await fetch(`${page.url}/chats/chat-one/messages?limit=9`)).json()) as MessagesAnswer;
    assert.deepEqual(frames.map((frame) => frame.entry.type), ['message', 'name', 'message']);
  }));

test('older messages come page by page', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    for (let i = 1; i <= 5; i += 1) await page.adapter.send(outbound(`key-${i}`, `Text ${i}`), signal);
    await page.adapter.send(outbound('other', 'Elsewhere', { target: { account, chatId: 'chat-two', chatType: 'dm' } }), signal);
    const read = async (query: string) => (await (await fetch(`${page.url}/chats/chat-one/messages?${query}`)).json()) as MessagesAnswer;
    const newest = await read('limit=2');
    assert.deepEqual([texts(newest.frames), newest.more], [['Text 4', 'Text 5'], true]);
    const older = await read(`limit=3&before=${newest.frames[0]?.seq}`);
    assert.deepEqual([texts(older.frames), older.more], [['Text 1', 'Text 2', 'Text 3'], false]);
  }));

test('a press reaches the gateway with its data, and every tab sees it', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const choices = [[{ label: 'Yes', data: 'approve:1' }]];
    const { messageIds } = await page.adapter.send(outbound('key-1', 'Run it?', { choices }), signal);
    const messageId = messageIds[0];
    const press = { id: 'press-0001', messageId, data: 'approve:1' };
    assert.equal((await post(`${page.url}/chats/chat-one/presses`, press)).status, 200);
    assert.equal((await post(`${page.url}/chats/chat-one/presses`, press)).status, 200);
    assert.equal((await post(`${page.url}/chats/chat-two/presses`, { ...press, id: 'press-0002' })).status, 404);
    assert.deepEqual(page.gateway.events.map(({ kind, messageId: at, button }) => ({ kind, at, button })), [{ kind: 'button', at: messageId, button: { data: 'approve:1' } }]);
    const frames = await follow(`${page.url}/events?after=1`, isReady);
    assert.deepEqual(frames[0] !== undefined && 'entry' in frames[0] && frames[0].entry, { type: 'press', id: messageId, data: 'approve:1' });
  }));

test('a reply carries the words it answers', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const { messageIds } = await page.adapter.send(outbound('key-1', 'First'), signal);
    await page.adapter.edits?.edit(messageIds[0] ?? '', outbound('key-1', 'First, corrected'), true, signal);
    await post(`${page.url}/chats/chat-one/messages`, { id: 'message-1', text: 'Why?', files: [], replyTo: messageIds[0] });
    assert.deepEqual(page.gateway.events[0]?.replyTo, { messageId: messageIds[0], isOwn: true, text: 'First, corrected' });
  }));

test('everything is still there after a restart', () =>
  withFolder(async (folder) => {
    {
      await using page = await start(folder);
      await post(`${page.url}/chats/chat-one/messages`, { id: 'message-1', text: 'Question', files: [] });
      await page.adapter.send(outbound('key-1', 'Answer'), signal);
      await page.adapter.menu?.publish([{ name: 'help', description: 'What one can say' }], signal);
    }
    await using page = await start(folder);
    assert.deepEqual(texts(await follow(`${page.url}/events?after=0`, isReady)), ['Question', 'Answer']);
    assert.deepEqual(await page.adapter.send(outbound('key-1', 'Answer'), signal), { messageIds: ['a2'] });
    const chats = (await (await fetch(`${page.url}/chats`)).json()) as ChatsAnswer;
    assert.deepEqual([chats.chats.length, chats.cursor, chats.commands], [1, 2, [{ name: 'help', description: 'What one can say' }]]);
  }));

test('an entry that another process wrote arrives like our own', () =>
  withFolder(async (folder) => {
    await using page = await start(folder);
    const elsewhere = await web.open({ account, options: webOptions.parse({}), log: silentLogger, data: page.data, home: folder, mediaFolder: folder });
    const ready = Promise.withResolvers<void>();
    const watching = follow(`${page.url}/events`, (frames) => {
      if (isReady(frames)) ready.resolve();
      return texts(frames).length === 1;
    });
    await ready.promise;
    await elsewhere.send(outbound('key-1', 'From over there'), signal);
    assert.deepEqual(texts(await watching), ['From over there']);
  }));
