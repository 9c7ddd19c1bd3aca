import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaKind, OutboundMedia } from '../core/message.ts';
import { eventually, eventWith, failure, never, notOffered, targetOf } from './conformance-bench.ts';
import type { Bench, Clause } from './conformance-bench.ts';

/** One blue pixel: a file whose kind every platform can tell. */
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==', 'base64');
const notes = Buffer.from('Notes, with ümlauts.\n'.repeat(40));

const files: readonly { readonly kind: MediaKind; readonly name: string; readonly mime: string; readonly bytes: Buffer }[] = [
  { kind: 'photo', name: 'pixel.png', mime: 'image/png', bytes: pixel },
  { kind: 'document', name: 'notes.txt', mime: 'text/plain', bytes: notes },
];

/** A message of ours that people see. */
const show = async ({ adapter, message, visible }: Bench, text: string): Promise<string> => {
  const { messageIds } = await adapter.send(message(text), never);
  await eventually(() => visible().find((shown) => shown.text === text), `"${text}" is shown`);
  return messageIds[0] ?? assert.fail('the receipt has no id');
};

const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => Buffer.from(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());

/** What an adapter says it can do, it does, and people see it. */
export const capabilities: Readonly<Record<string, Clause>> = {
  'an edit is seen, and the same edit again is a success': async (bench) => {
    const { edits } = bench.adapter;
    if (edits === undefined) return notOffered('it cannot edit');
    const id = await show(bench, 'draft');
    await edits.edit(id, bench.message('half'), false, never);
    for (let times = 0; times < 2; times += 1) await edits.edit(id, bench.message('**whole**'), true, never);
    await eventually(() => bench.visible().some(({ text }) => text === 'whole'), 'the edit is seen');
    assert.deepEqual(
      bench.visible().map((shown) => [shown.id, shown.text]),
      [[id, 'whole']],
    );
  },

  'an edit of a message that is gone says so': async (bench) => {
    const { edits } = bench.adapter;
    if (edits === undefined) return notOffered('it cannot edit');
    const id = await show(bench, 'short-lived');
    const message = bench.message('too late');
    await edits.remove(message.target, id, never);
    await eventually(() => bench.visible().length === 0, 'the message is gone');
    await failure(edits.edit(id, message, true, never), 'not_found');
  },

  'typing is shown in its chat': async ({ adapter: { typing }, simulator, message }) => {
    if (typing === undefined) return notOffered('it cannot show typing');
    assert.ok(typing.everyMs > 0);
    const { target } = message('');
    await typing.show(target, never);
    await eventually(() => simulator.typing().includes(target.chatId), 'typing is shown');
  },

  'a reaction is seen until it is taken back': async (bench) => {
    const { reactions } = bench.adapter;
    if (reactions === undefined) return notOffered('it cannot react');
    const id = await show(bench, 'react to me');
    const { target } = bench.message('');
    await reactions.set(target, id, '👍', never);
    await eventually(() => bench.visible()[0]?.reactions.includes('👍'), 'the reaction is seen');
    await reactions.set(target, id, null, never);
    await eventually(() => bench.visible()[0]?.reactions.length === 0, 'the reaction is gone');
  },

  'a choice that somebody makes comes back': async ({ adapter, simulator, running, message, visible, place }) => {
    const { choices } = adapter;
    if (choices === undefined) return notOffered('it has no buttons');
    const longest = 'x'.repeat(64);
    const rows = [[{ label: 'Yes', data: 'answer:yes' }, { label: 'No', data: 'answer:no' }], [{ label: 'Later', data: longest }]];
    await adapter.send(message('Shall I?', { choices: rows }), never);
    const shown = await eventually(() => visible()[0], 'the question is shown');
    assert.deepEqual(shown.choices, rows.flat());
    const { chatId, senderId } = place('dm');
    for (const data of ['answer:no', longest]) {
      const nativeId = await simulator.press(chatId, shown.id, data, senderId);
      const event = await eventually(() => running.inbox.events.find((each) => each.button?.data === data), 'the press arrived');
      assert.deepEqual([event.kind, event.nativeId, event.chat.id, event.sender.id, event.messageId], ['button', nativeId, chatId, senderId, shown.id]);
      await choices.answer(event, 'Noted.', never);
    }
  },

  'a thread that we have opened is called like its conversation, however often that is said': async ({ adapter, simulator, platform }) => {
    const { names, threads } = adapter;
    if (names === undefined || threads === undefined || simulator.threadName === undefined) return notOffered('its threads cannot be named');
    for (const place of simulator.places) {
      const thread = await threads.open(targetOf(platform.name, place), 'Conversation', never);
      if (thread === undefined) continue;
      assert.equal(simulator.threadName(thread), 'Conversation');
      for (let times = 0; times < 2; times += 1) await names.set(thread, 'Trip to Rome', never);
      assert.equal(simulator.threadName(thread), 'Trip to Rome');
      return undefined;
    }
    return notOffered('it has no place for threads');
  },

  'files go out whole': async ({ adapter, folder, message, visible }) => {
    if (adapter.media === undefined) return notOffered('it has no files');
    const media: OutboundMedia[] = [];
    for (const { bytes, ...facts } of files) {
      const path = join(folder, facts.name);
      await writeFile(path, bytes);
      media.push({ ...facts, path });
    }
    await adapter.send(message('Here they are.', { media }), never);
    const shown = await eventually(() => visible().flatMap((each) => each.media).length === files.length && visible(), 'the files are shown');
    assert.ok(shown.some(({ text }) => text === 'Here they are.'));
    for (const { kind, name, bytes } of files) {
      const seen = shown.flatMap((each) => each.media).find((each) => each.kind === kind);
      assert.ok(seen !== undefined && Buffer.from(seen.bytes).equals(bytes), `${name} is not what was sent`);
      if (kind === 'document') assert.equal(seen.name, name);
    }
  },

  'a file above the limit is named, and nothing is shown': async ({ adapter, folder, message, visible }) => {
    if (adapter.media === undefined) return notOffered('it has no files');
    const files = [{ name: 'small.txt', sizeBytes: 10 }, { name: 'too large.bin', sizeBytes: adapter.media.maxUploadBytes + 1 }];
    const media: OutboundMedia[] = [];
    for (const { name, sizeBytes } of files) {
      const path = join(folder, name);
      await writeFile(path, '');
      await truncate(path, sizeBytes);
      media.push({ kind: 'document', mime: 'application/octet-stream', name, path });
    }
    const { facts } = await failure(adapter.send(message('Here they are.', { media }), never), 'too_large');
    assert.equal(facts.file, 'too large.bin');
    assert.deepEqual(visible(), []);
    return undefined;
  },

  'files come in whole, also for an adapter that was not there': async ({ adapter, running, say, reopen }) => {
    if (adapter.media === undefined) return notOffered('it has no files');
    for (const file of files) {
      await say({ text: `see ${file.name}`, media: file });
      const event = JSON.parse(JSON.stringify(await eventWith(running.inbox, `see ${file.name}`))) as typeof running.inbox.events[number];
      const ref = event.media[0] ?? assert.fail('the event has no file');
      assert.equal(ref.kind, file.kind);
      const fresh = await reopen();
      const opened = await bytesOf(await (fresh.media ?? assert.fail('the fresh adapter has no files')).open(ref, never));
      assert.ok(opened.equals(file.bytes), `${file.name} is not what was sent`);
    }
  },

  'a file that is gone is called that': async ({ adapter, running, say }) => {
    if (adapter.media === undefined) return notOffered('it has no files');
    const [file] = files;
    await say({ text: 'look', ...(file !== undefined && { media: file }) });
    const ref = (await eventWith(running.inbox, 'look')).media[0] ?? assert.fail('the event has no file');
    const gone = { ...ref, ref: Object.fromEntries(Object.entries(ref.ref).map(([key, value]) => [key, typeof value === 'string' ? `gone-${key}` : value])) };
    await failure(adapter.media.open(gone, never), 'not_found');
  },

  'a thread is opened, what is sent there is seen there, and what people say there comes from the same place': async ({ platform, adapter, simulator, message, say, running }) => {
    const { threads } = adapter;
    if (threads === undefined) return notOffered('it has no threads');
    const chats = simulator.places.map((place) => targetOf(platform.name, place));
    for (const chat of chats) {
      const thread = await threads.open(chat, 'A new topic', never);
      if (thread === undefined) continue;
      assert.notEqual(thread.threadId, undefined);
      await adapter.send(message('inside', { target: thread }), never);
      const shown = await eventually(() => simulator.visible(thread.chatId).find(({ text }) => text === 'inside'), 'the message is shown');
      assert.equal(shown.threadId, thread.threadId);
      // A conversation that was handed over is keyed by this place: whoever speaks there has to arrive there.
      const { senderId } = simulator.places.find((place) => place.chatId === chat.chatId) ?? assert.fail('the chat has somebody in it');
      await say({ chatId: thread.chatId, chatType: thread.chatType, senderId, text: 'from inside', mention: thread.chatType !== 'dm', ...(thread.threadId !== undefined && { threadId: thread.threadId }) });
      const event = await eventWith(running.inbox, 'from inside');
      assert.deepEqual([event.chat.id, event.chat.type, event.chat.threadId], [thread.chatId, thread.chatType, thread.threadId]);
      return undefined;
    }
    return assert.fail('no chat of the platform can have a thread');
  },

  'chats that it lists have names, and can be written to': async ({ adapter, platform, simulator, message }) => {
    if (adapter.directory === undefined) return notOffered('it cannot list its chats');
    const listed = await adapter.directory.list(never);
    const [first] = listed;
    assert.ok(first !== undefined, 'it lists the chats of its simulator');
    for (const { id, name } of listed) assert.ok(id !== '' && name.trim() !== '' && !name.startsWith('#'), `${id} is called ${name}`);
    const target = { account: platform.name, chatId: first.id, chatType: first.type, ...(first.threadId !== undefined && { threadId: first.threadId }), ...(first.scopeId !== undefined && { scopeId: first.scopeId }) };
    await adapter.send(message('found you', { target }), never);
    await eventually(() => simulator.visible(first.id).some(({ text }) => text === 'found you'), 'the message is shown');
    return undefined;
  },

  'a menu of commands is taken': async ({ adapter: { menu } }) => {
    if (menu === undefined) return notOffered('it has no menu');
    const commands = [{ name: 'new', description: 'Start anew' }, { name: 'stop', description: 'Stop what is being done' }];
    for (let times = 0; times < 2; times += 1) await menu.publish(commands, never);
    return undefined;
  },
};
