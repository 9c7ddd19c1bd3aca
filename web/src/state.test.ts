import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalFrame, WireEntry } from '../../src/platforms/web/wire.ts';
import { addPage, applyFrame, applyLive, dropPreviews, emptyState, openChat } from './state.ts';
import type { State } from './state.ts';

const frame = (seq: number, entry: WireEntry, chat = 'one'): JournalFrame => ({ seq, chat, atMs: seq * 1000, entry });
const message = (id: string, from: 'owner' | 'agent', text: string): WireEntry => ({ type: 'message', id, from, text, files: [], choices: [] });
const apply = (state: State, ...frames: readonly JournalFrame[]): State => frames.reduce((now, one) => applyFrame(now, one, 'one'), state);
const texts = (state: State, chat = 'one'): readonly string[] => state.open[chat]?.messages.map((one) => one.text) ?? [];

const opened = openChat(emptyState, 'one');

test('entries become messages in order, and one that comes again changes nothing', () => {
  const first = apply(opened, frame(1, message('u1', 'owner', 'Hi')), frame(2, message('a2', 'agent', 'Hello')));
  assert.deepEqual(texts(first), ['Hi', 'Hello']);
  assert.equal(apply(first, frame(2, message('a2', 'agent', 'Hello'))), first);
  assert.equal(first.cursor, 2);
});

test('an edit replaces text and buttons, a removal takes the message away', () => {
  const asked = apply(opened, frame(1, { ...message('a1', 'agent', 'Run?'), choices: [[{ label: 'Yes', data: 'y' }]] } as WireEntry), frame(2, { type: 'press', id: 'a1', data: 'y' }));
  assert.equal(asked.open['one']?.messages[0]?.pressed, 'y');
  const edited = apply(asked, frame(3, { type: 'edit', id: 'a1', text: 'Done', choices: [] }), frame(4, { type: 'reaction', id: 'a1', emoji: '👍' }));
  const { text, choices, pressed, reaction } = edited.open['one']?.messages[0] ?? assert.fail('gone');
  assert.deepEqual({ text, choices, pressed, reaction }, { text: 'Done', choices: [], pressed: undefined, reaction: '👍' });
  assert.deepEqual(texts(apply(edited, frame(5, { type: 'remove', id: 'a1' }))), []);
});

test('messages that an entry does not concern stay the same objects', () => {
  const before = apply(opened, frame(1, message('a1', 'agent', 'One')), frame(2, message('a2', 'agent', 'Two')));
  const after = apply(before, frame(3, { type: 'edit', id: 'a2', text: '2', choices: [] }));
  assert.equal(after.open['one']?.messages[0], before.open['one']?.messages[0]);
});

test('a page and entries that came meanwhile fit together, whichever is first', () => {
  const live = apply(opened, frame(4, message('u4', 'owner', 'Four')));
  const page = { frames: [frame(2, message('u2', 'owner', 'Two')), frame(3, message('a3', 'agent', 'Three'))], more: true };
  const both = addPage(live, 'one', page);
  assert.deepEqual(texts(both), ['Two', 'Three', 'Four']);
  const ahead = addPage(opened, 'one', { frames: [...page.frames, frame(4, message('u4', 'owner', 'Four'))], more: true });
  assert.deepEqual(texts(apply(ahead, frame(4, message('u4', 'owner', 'Four')), frame(5, message('a5', 'agent', 'Five')))), ['Two', 'Three', 'Four', 'Five']);
});

test('an edit whose message is further up takes effect once that page is there', () => {
  const newest = addPage(opened, 'one', { frames: [frame(9, { type: 'edit', id: 'a1', text: 'Right', choices: [] })], more: true });
  assert.deepEqual(texts(newest), []);
  assert.deepEqual(texts(addPage(newest, 'one', { frames: [frame(1, message('a1', 'agent', 'Wrong'))], more: false })), ['Right']);
});

test('a growing text is put together from its pieces and given up for the final one', () => {
  const sent = apply(opened, frame(1, message('a1', 'agent', 'The')));
  const pieces = [['The quick', 0], [' brown', 9], ['ish', 15], [' fox', 12]] as const;
  const grown = pieces.reduce((state, [text, at]) => applyLive(state, { type: 'live', chat: 'one', id: 'a1', at, text }, 0), sent);
  assert.equal(grown.previews['a1']?.text, 'The quick br fox');
  const done = apply(grown, frame(2, { type: 'edit', id: 'a1', text: 'The end', choices: [] }));
  assert.deepEqual([done.previews, texts(done)], [{}, ['The end']]);
  assert.deepEqual(dropPreviews(grown, new Set(['a1'])).previews, {});
});

test('the list has the latest chat first, names new ones by their words, and drops hidden ones', () => {
  const listed = apply(emptyState, frame(1, message('u1', 'owner', '# First *words*'), 'one'), frame(2, message('u2', 'owner', 'Other'), 'two'), frame(3, message('a3', 'agent', 'Answer'), 'one'));
  assert.deepEqual(listed.chats.map((chat) => [chat.id, chat.title]), [['one', 'First words'], ['two', 'Other']]);
  assert.deepEqual(apply(listed, frame(4, { type: 'name', name: 'Trip to Rome' }, 'two')).chats.map((chat) => chat.title), ['First words', 'Trip to Rome']);
  assert.deepEqual(apply(listed, frame(4, { type: 'hide' }, 'one')).chats.map((chat) => chat.id), ['two']);
});

test('an answer in a chat that nobody looks at is marked as new', () => {
  const state = apply(emptyState, frame(1, message('a1', 'agent', 'Here'), 'one'), frame(2, message('a2', 'agent', 'There'), 'two'), frame(3, message('u3', 'owner', 'Mine'), 'three'));
  assert.deepEqual(state.unread, { two: true });
});
