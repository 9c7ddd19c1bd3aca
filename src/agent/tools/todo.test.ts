import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { manualClock } from '../../lib/clock.ts';
import { somewhere } from '../turn.test-support.ts';
import { ToolError } from './contract.ts';
import { todoNote, todosFrom, todoTool } from './todo.ts';

/** A conversation in which the tool is called; what it answers becomes part of the transcript. */
const conversation = () => {
  const transcript: TranscriptMessage[] = [{ role: 'user', content: 'go' }];
  return {
    transcript,
    async call(args: Record<string, unknown>): Promise<ReturnType<typeof todosFrom>> {
      const context = { sessionId: 's', turnId: 't', callId: 'c', place: somewhere, clock: manualClock(), asyncDelivery: true, transcript: () => transcript, alive: () => undefined, ask: async () => ({ type: 'unattended' as const }) };
      const content = await todoTool.run(args, context, new AbortController().signal);
      transcript.push({ role: 'tool', toolName: 'todo', toolCallId: 'c', content });
      return todosFrom(transcript);
    },
  };
};

const badArguments = (error: unknown): boolean => error instanceof ToolError && error.code === 'bad_arguments';

test('a plan is written, changed and read, and lives in the transcript alone', async () => {
  const { call, transcript } = conversation();
  await call({ todos: [{ id: '1', content: 'look' }, { id: '2', content: 'think', parent: '1' }] });
  const changed = await call({ merge: true, todos: [{ id: '1', status: 'completed' }, { id: '3', content: 'act', status: 'in_progress' }] });
  assert.deepEqual(changed.todos, [
    { id: '1', content: 'look', status: 'completed' },
    { id: '2', content: 'think', status: 'pending', parent: '1' },
    { id: '3', content: 'act', status: 'in_progress' },
  ]);
  assert.equal(changed.revision, 2);
  assert.deepEqual(await call({}), changed);
  assert.match(transcript.at(-1)?.content ?? '', /"summary":\{"total":3,"pending":1,"in_progress":1,"completed":1,"cancelled":0\}/);
});

test('without merge the new list takes the place of the old one', async () => {
  const { call } = conversation();
  await call({ todos: [{ id: 'a', content: 'old' }] });
  assert.deepEqual((await call({ todos: [{ id: 'b', content: 'new' }] })).todos, [{ id: 'b', content: 'new', status: 'pending' }]);
  assert.deepEqual((await call({ todos: [] })).todos, []);
});

test('a conversation without a plan has an empty one', async () => {
  assert.deepEqual(await conversation().call({}), { todos: [], revision: 0 });
});

test('only results of the tool count, and broken ones are passed over', () => {
  const list = '{"todos":[{"id":"1","content":"x","status":"pending"}],"revision":1}';
  const row = (toolName: string, content: string): TranscriptMessage => ({ role: 'tool', toolName, toolCallId: 'c', content });
  assert.equal(todosFrom([row('todo', list), row('terminal', '{"todos":[],"revision":9}'), row('todo', 'Error (bad_arguments): no'), row('todo', '{"todos":[{"id":1}],"revision":2}')]).revision, 1);
});

test('what is still to be done survives as a note when the result has left the transcript', async () => {
  const { call } = conversation();
  const list = await call({ todos: [{ id: '1', content: 'done', status: 'completed' }, { id: '2', content: 'left\nto do' }] });
  const note = todoNote(list);
  assert.ok(note !== undefined && !note.includes('\n'));
  const shortened: TranscriptMessage[] = [{ role: 'user', content: `Summary of what came before.\n${note}\nEnd of the summary.` }, { role: 'assistant', content: 'I go on.' }];
  assert.deepEqual(todosFrom(shortened), { todos: [{ id: '2', content: 'left\nto do', status: 'pending' }], revision: 1 });
  assert.equal(todoNote({ todos: [{ id: '1', content: 'x', status: 'cancelled' }], revision: 4 }), undefined);
});

test('a plan has limits, and a new item needs words', async () => {
  const { call } = conversation();
  await assert.rejects(call({ todos: Array.from({ length: 257 }, (_, index) => ({ id: String(index), content: 'x' })) }), badArguments);
  await call({ todos: Array.from({ length: 256 }, (_, index) => ({ id: String(index), content: 'x' })) });
  await assert.rejects(call({ merge: true, todos: [{ id: 'more', content: 'x' }] }), badArguments);
  await assert.rejects(call({ todos: [{ id: '1', content: 'x'.repeat(4001) }] }), badArguments);
  await assert.rejects(call({ todos: Array.from({ length: 30 }, (_, index) => ({ id: String(index), content: 'x'.repeat(4000) })) }), badArguments);
  await assert.rejects(call({ merge: true, todos: [{ id: 'unknown', status: 'completed' }] }), badArguments);
  await assert.rejects(call({ todos: [{ id: '1', content: 'x', status: 'done' }] }), badArguments);
});
