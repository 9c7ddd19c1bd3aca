import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines, readTranscript } from './read-transcript.ts';

const file = (...lines: readonly object[]): string => lines.map((line) => JSON.stringify(line)).join('\n');
const said = (id: string, parentId: string | null, message: object): object => ({ type: 'message', id, parentId, timestamp: '2026-03-25T03:00:00.000Z', message });

test('messages, thoughts, tool calls and their results become rows', () => {
  const lines = readLines(
    file(
      { type: 'session', id: 's', timestamp: '2026-03-25T02:59:00.000Z', cwd: '/' },
      said('1', null, { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image', data: 'x' }] }),
      said('2', '1', { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I look' }, { type: 'toolCall', id: 'c', name: 'exec', arguments: { command: 'ls' } }] }),
      said('3', '2', { role: 'toolResult', toolCallId: 'c', toolName: 'exec', content: [{ type: 'text', text: 'a b' }] }),
      { type: 'model_change', id: '4', parentId: '3', modelId: 'x' },
    ) + '\n{"type":"mess',
  );
  const rows = readTranscript(lines, 0);
  assert.deepEqual(rows.map(({ message }) => message), [
    { role: 'user', content: 'look\n[image]' },
    { role: 'assistant', content: 'I look', toolCalls: [{ id: 'c', name: 'exec', arguments: '{"command":"ls"}' }], reasoning: 'hm' },
    { role: 'tool', content: 'a b', toolCallId: 'c', toolName: 'exec' },
  ]);
  assert.deepEqual(rows.map(({ fate }) => fate), ['active', 'active', 'active']);
  assert.equal(rows[0]?.createdAtMs, Date.parse('2026-03-25T03:00:00.000Z'));
});

test('what was branched away from is undone', () => {
  const rows = readTranscript(readLines(file(said('1', null, { role: 'user', content: 'a' }), said('2', '1', { role: 'assistant', content: 'wrong' }), said('3', '1', { role: 'assistant', content: 'right' }))), 0);
  assert.deepEqual(rows.map(({ message, fate }) => [message.content, fate]), [['a', 'active'], ['wrong', 'undone'], ['right', 'active']]);
});

test('what was summarised is kept behind its summary', () => {
  const rows = readTranscript(
    readLines(file(said('1', null, { role: 'user', content: 'old' }), said('2', '1', { role: 'user', content: 'kept' }), { type: 'compaction', id: '3', parentId: '2', summary: 'was old', firstKeptEntryId: '2' }, said('4', '3', { role: 'user', content: 'new' }))),
    0,
  );
  assert.deepEqual(rows.map(({ message, fate }) => [message.content, fate]), [['old', 'archived'], ['kept', 'active'], ['[Summary of the conversation so far]\nwas old', 'active'], ['new', 'active']]);
});
