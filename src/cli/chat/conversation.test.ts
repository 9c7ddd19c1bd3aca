import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Activity } from '../../platforms/contract.ts';
import type { LocalEntry, ServerFrame } from '../../platforms/local/client.ts';
import { newConversation, receive } from './conversation.ts';
import type { Conversation, Printed } from './conversation.ts';

let seq = 0;
const entry = (what: LocalEntry): ServerFrame => ({ type: 'entry', seq: (seq += 1), atMs: 0, entry: what });
const answer = (id: string, text: string, more: Partial<Extract<LocalEntry, { type: 'message' }>> = {}): ServerFrame => entry({ type: 'message', id, from: 'agent', text, files: [], choices: [], ...more });
const edit = (id: string, text: string): ServerFrame => entry({ type: 'edit', id, text, choices: [] });
const live = (id: string, at: number, text: string): ServerFrame => ({ type: 'live', chat: 'c', id, at, text });
const activity = (what: Activity): ServerFrame => ({ type: 'activity', chat: 'c', activity: what });
const started = (callId: string): ServerFrame => activity({ type: 'tool_started', callId, name: 'clock', preview: '' });
const finished = (callId: string): ServerFrame => activity({ type: 'tool_finished', callId, name: 'clock', ok: true, durationMs: 3 });

const words = (item: Printed): string => (item.type === 'answer' ? `${item.changed ? 'changed ' : ''}${item.text}` : item.type === 'tool' ? `tool ${item.name}` : 'text' in item ? `${item.type} ${item.text}` : item.type);

const run = (frames: readonly ServerFrame[], from: Conversation = newConversation): { conversation: Conversation; printed: readonly string[] } => {
  let conversation = from;
  const printed: string[] = [];
  for (const frame of frames) {
    const step = receive(conversation, frame, { nowMs: 0, isOwn: (id) => id === 'mine' });
    conversation = step.conversation;
    printed.push(...step.print.map(words));
  }
  return { conversation, printed };
};

test('an answer is live while it grows and printed once when it is final', () => {
  const { conversation, printed } = run([answer('a1', 'Hel ▉', { growing: true }), live('a1', 3, 'lo ▉'), live('a1', 5, ' world ▉')]);
  assert.deepEqual(conversation.live, [{ type: 'growing', id: 'a1', text: 'Hello world ▉' }]);
  assert.deepEqual(printed, []);
  const done = run([edit('a1', 'Hello world.'), edit('a1', 'Hello world.'), live('a1', 0, 'late')], conversation);
  assert.deepEqual([done.printed, done.conversation.live], [['Hello world.'], []]);
});

test('what was written here is not printed again, what was written elsewhere is', () => {
  const said = (id: string): ServerFrame => entry({ type: 'message', id, from: 'owner', text: `by ${id}`, files: [], choices: [] });
  assert.deepEqual(run([said('mine'), said('other')]).printed, ['said by other']);
});

test('a message that comes whole does not wait for one that grows', () => {
  const { conversation, printed } = run([answer('a1', 'long ▉', { growing: true }), answer('a2', 'status')]);
  assert.deepEqual([printed, conversation.live.length], [['status'], 1]);
});

test('tools are printed in the order in which things began', () => {
  const { printed } = run([answer('a1', 'Let me ▉', { growing: true }), started('c1'), finished('c1'), started('c2'), edit('a1', 'Let me look.'), finished('c2'), answer('a3', 'Done.')]);
  assert.deepEqual(printed, ['Let me look.', 'tool clock', 'tool clock', 'Done.']);
});

test('the end of a turn takes away what did not end by itself', () => {
  const { conversation, printed } = run([started('c1'), started('c2'), finished('c2'), activity({ type: 'end', reason: 'stopped' })]);
  assert.deepEqual([printed, conversation.live], [['tool clock'], []]);
});

test('the final text of a message whose beginning was seen long ago is printed', () => {
  assert.deepEqual(run([edit('a9', 'The end of it.')]).printed, ['The end of it.']);
});

test('a later change is printed and called one', () => {
  assert.deepEqual(run([answer('a1', 'Shall I?'), edit('a1', 'Done.')]).printed, ['Shall I?', 'changed Done.']);
});

test('a replay after a lost connection changes nothing, and what is live is told anew', () => {
  const frames = [entry({ type: 'message', id: 'other', from: 'owner', text: 'from elsewhere', files: [], choices: [] }), answer('a1', 'one'), answer('a2', 'two ▉', { growing: true })];
  const before = run(frames).conversation;
  const after = run([{ type: 'welcome', version: 1, unseen: 0, unseenChats: 0 }, ...frames, live('a2', 0, 'two more ▉')], before);
  assert.deepEqual(after.printed, []);
  assert.deepEqual(after.conversation.live, [{ type: 'growing', id: 'a2', text: 'two more ▉' }]);
});

test('a question is open until it is answered or changed', () => {
  const choices = [[{ label: 'Yes', data: 'y' }], [{ label: 'No', data: 'n' }]];
  const asked = run([answer('a1', 'Shall I?', { choices })]).conversation;
  assert.deepEqual(asked.question, { messageId: 'a1', choices: choices.flat() });
  assert.equal(run([entry({ type: 'press', id: 'a1', data: 'y' })], asked).conversation.question, undefined);
  assert.equal(run([edit('a1', 'Too late.')], asked).conversation.question, undefined);
  assert.notEqual(run([answer('a2', 'Something else')], asked).conversation.question, undefined);
});

test('a frame of a newer gateway is ignored', () => {
  assert.deepEqual(run([{ type: 'hologram' } as unknown as ServerFrame]).printed, []);
});
