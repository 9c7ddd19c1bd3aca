import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines, readTranscript } from './read-transcript.ts';

const read = (...lines: readonly object[]) => readTranscript(readLines(lines.map((line) => JSON.stringify(line))));
const said = (id: string, parentId: string | null | undefined, message: object): object => ({ type: 'message', id, ...(parentId !== undefined && { parentId }), timestamp: '2026-03-25T03:00:00.000Z', message });
const asked = (id: string, parentId?: string | null): object => said(id, parentId, { role: 'user', content: id });
const fates = ({ messages }: ReturnType<typeof read>): readonly string[] => messages.map(({ message, fate }) => `${message.content} ${fate}`);

test('messages, thoughts, tool calls and their results become rows', () => {
  const lines = readLines([
    ...[
      { type: 'session', id: 's', timestamp: '2026-03-25T02:59:00.000Z', cwd: '/' },
      said('1', null, { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image', data: 'x' }] }),
      said('2', '1', { role: 'assistant', model: 'm', usage: { input: 3, output: 2, cacheRead: 1, cost: { total: 0.5 } }, content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I look' }, { type: 'toolCall', id: 'c', name: 'exec', arguments: { command: 'ls' } }] }),
      said('3', '2', { role: 'toolResult', toolCallId: 'c', toolName: 'exec', content: [{ type: 'text', text: 'a b' }] }),
      { type: 'model_change', id: '4', parentId: '3', modelId: 'x' },
    ].map((line) => JSON.stringify(line)),
    '{"type":"mess',
  ]);
  const { messages, ...facts } = readTranscript(lines);
  assert.deepEqual(messages.map(({ message }) => message), [
    { role: 'user', content: 'look\n[image]' },
    { role: 'assistant', content: 'I look', toolCalls: [{ id: 'c', name: 'exec', arguments: '{"command":"ls"}' }], reasoning: 'hm' },
    { role: 'tool', content: 'a b', toolCallId: 'c', toolName: 'exec' },
  ]);
  assert.deepEqual(messages.map(({ fate }) => fate), ['active', 'active', 'active']);
  assert.equal(messages[0]?.createdAtMs, Date.parse('2026-03-25T03:00:00.000Z'));
  assert.deepEqual(facts, { startedAtMs: Date.parse('2026-03-25T02:59:00.000Z'), model: 'm', usage: { inputTokens: 3, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0, reasoningTokens: 0, cost: { usd: 0.5, status: 'estimated' } } });
});

test('an answer that failed before it said anything is no message', () => {
  assert.deepEqual(fates(read(asked('a', null), said('b', 'a', { role: 'assistant', content: [], stopReason: 'error' }), asked('c', 'b'))), ['a active', 'c active']);
});

test('what was branched away from is undone', () => {
  assert.deepEqual(fates(read(asked('a', null), asked('wrong', 'a'), asked('right', 'a'))), ['a active', 'wrong undone', 'right active']);
});

test('a line that names the end of the conversation moves it', () => {
  const back = { type: 'leaf', id: 'l', parentId: 'b', targetId: 'a' };
  assert.deepEqual(fates(read(asked('a', null), asked('b', 'a'), back)), ['a active', 'b undone']);
  assert.deepEqual(fates(read(asked('a', null), asked('b', 'a'), back, asked('c', 'l'))), ['a active', 'b undone', 'c active']);
  assert.deepEqual(fates(read(asked('a', null), asked('b', 'a'), { ...back, targetId: 'nowhere' })), ['a active', 'b active']);
  assert.deepEqual(fates(read(asked('a', null), { ...asked('aside', 'a'), appendMode: 'side' })), ['a active', 'aside undone']);
});

test('lines that name no line before them go on where the conversation was', () => {
  assert.deepEqual(fates(read(asked('a'), asked('b'))), ['a active', 'b active']);
  assert.deepEqual(fates(read(asked('a', null), asked('b', 'cut off'), asked('c'))), ['a active', 'b active', 'c active']);
});

test('what was summarised is kept behind its summary', () => {
  const summary = { type: 'compaction', id: '3', parentId: 'kept', summary: 'was old', firstKeptEntryId: 'kept' };
  assert.deepEqual(fates(read(asked('old', null), asked('kept', 'old'), summary, asked('new', '3'))), ['old archived', '[Summary of the conversation so far]\nwas old active', 'kept active', 'new active']);
  assert.deepEqual(fates(read(asked('old', null), { type: 'reset', id: 'r', parentId: 'old' }, asked('new', 'r'))), ['old archived', 'new active']);
});
