import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TurnEvent } from '../../core/turn.ts';
import { readUpdate } from './read-update.ts';
import { TurnFeed } from './turn-feed.ts';

const words = (event: TurnEvent): string => {
  if (event.type === 'text' || event.type === 'reasoning') return `${event.type} ${event.delta}`;
  if (event.type === 'tool_started') return `started ${event.callId} ${event.name}: ${event.preview}`;
  if (event.type === 'tool_finished') return `finished ${event.callId} ${event.ok}`;
  if (event.type !== 'message') return event.type;
  const { role, content, toolCalls, toolCallId } = event.message;
  return `${role}${toolCallId === undefined ? '' : ` ${toolCallId}`} ${JSON.stringify(content)}${(toolCalls ?? []).map((call) => ` ${call.id}(${call.arguments})`).join('')}`;
};

/** What comes of updates as agents send them, taken at once or only at the end. */
const told = (updates: readonly object[], slowly = false): string[] => {
  const feed = new TurnFeed(() => 0);
  const events: TurnEvent[] = [];
  for (const each of updates) {
    const update = readUpdate(each);
    if (update !== undefined && update.type !== 'cost') feed.push(update);
    if (!slowly) events.push(...feed.take());
  }
  return [...events, ...feed.end('stop')].map(words);
};

const says = (text: string, messageId?: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...(messageId !== undefined && { messageId }) });
const call = (toolCallId: string, more: object = {}) => ({ sessionUpdate: 'tool_call', toolCallId, title: `do ${toolCallId}`, kind: 'execute', ...more });
const change = (toolCallId: string, more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId, ...more });

test('pieces that nobody has read yet are put together', () => {
  assert.deepEqual(told([says('a'), says('b'), says('c')], true), ['text abc', 'assistant "abc"']);
});

test('a call is shown once it is known what with, and its row stands before the words that follow', () => {
  const updates = [says('Look: '), call('c1'), change('c1', { title: 'ls -l', rawInput: { command: 'ls -l' } }), change('c1', { status: 'in_progress' }), change('c1', { status: 'completed', rawOutput: { ok: 1 } }), says('Done.')];
  assert.deepEqual(told(updates), ['text Look: ', 'started c1 execute: ls -l', 'finished c1 true', 'assistant "Look: " c1({"command":"ls -l"})', 'tool c1 "{\\"ok\\":1}"', 'text Done.', 'assistant "Done."']);
});

test('calls beside each other are one round; what ends without a word is said to have', () => {
  const updates = [call('c1'), call('c2'), change('c2', { status: 'failed' }), says('Meanwhile. '), change('c1', { status: 'completed' }), says('Both.')];
  assert.deepEqual(told(updates).slice(-5), ['assistant "Meanwhile. " c1({"title":"do c1"}) c2({"title":"do c2"})', 'tool c1 "The agent did not tell what came of it."', 'tool c2 "The agent did not tell what came of it."', 'text Both.', 'assistant "Both."']);
});

test('words that nothing follows but calls are still the answer, and open calls are closed', () => {
  assert.deepEqual(told([says('All done.'), call('c1', { status: 'in_progress' })]).slice(-4), ['finished c1 false', 'assistant "" c1({"title":"do c1"})', 'tool c1 "The agent did not tell what came of it."', 'assistant "All done."']);
});

test('messages of their own are paragraphs of their own', () => {
  assert.equal(told([says('one', 'm1'), says(' two', 'm1'), says('three', 'm2')]).at(-1), 'assistant "one two\\n\\nthree"');
});

test('thoughts are kept with the row that they led to', () => {
  const feed = new TurnFeed(() => 0);
  feed.push({ type: 'thought', text: 'Hm' });
  feed.push({ type: 'thought', text: '.' });
  feed.push({ type: 'text', text: 'Yes.' });
  const events = feed.end('stop');
  assert.deepEqual(events.map(words), ['reasoning Hm.', 'text Yes.', 'assistant "Yes."']);
  const last = events.at(-1);
  assert.equal(last?.type === 'message' && last.message.reasoning, 'Hm.');
});

test('whatever is sent is bounded', () => {
  const feed = new TurnFeed(() => 0);
  for (let index = 0; index < 2_000; index += 1) feed.push({ type: 'call', id: `c${index}`, status: 'completed', input: { text: 'x'.repeat(5_000) }, output: 'y'.repeat(50_000), title: 't'.repeat(5_000) });
  assert.equal(feed.isFull, true);
  const size = JSON.stringify(feed.end('stop')).length;
  assert.ok(size < 12_000_000, String(size));
});

test('what is unknown, broken or of no use is passed over', () => {
  for (const update of [undefined, null, 'x', [], {}, { sessionUpdate: 'plan', entries: [] }, { sessionUpdate: 'from_the_future' }, { sessionUpdate: 'agent_message_chunk' }, { sessionUpdate: 'tool_call' }, { sessionUpdate: 'usage_update', cost: { amount: -1, currency: 'USD' } }]) assert.equal(readUpdate(update), undefined, JSON.stringify(update));
  assert.deepEqual(readUpdate({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } }), { type: 'cost', usd: 0.5 });
  assert.deepEqual(readUpdate({ sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', name: 'a', uri: 'file:///a' } }), { type: 'text', text: '[a](file:///a)' });
});
