import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ModelError } from '../../../core/errors.ts';
import { chunkOf, usageChunk } from '../chat-simulator.ts';
import type { ModelEvent } from '../contract.ts';
import { newChatAnswer } from './chat-answer.ts';

const read = (...chunks: unknown[]): { events: ModelEvent[]; finish: Extract<ModelEvent, { type: 'finish' }> } => {
  const answer = newChatAnswer({ model: 'asked', maker: 'chat:host:asked', failure: (error) => new ModelError('server_error', JSON.stringify(error)) });
  const events: ModelEvent[] = [];
  for (const chunk of chunks) {
    answer.take(chunk);
    events.push(...answer.drain());
  }
  const finish = answer.finish();
  events.push(...answer.drain());
  return { events, finish };
};

const textIn = (events: readonly ModelEvent[], type: 'text' | 'reasoning' = 'text'): string =>
  events.map((event) => (event.type === type ? event.delta : '')).join('');

const toolDelta = (entry: unknown): unknown => chunkOf({ tool_calls: [entry] });

test('text, reasoning under both names, finish reason, model and usage are read; unknown fields are not in the way', () => {
  const { events, finish } = read(
    chunkOf({ role: 'assistant', content: '', surprise: { deep: 1 } }),
    chunkOf({ reasoning_content: 'think ' }),
    chunkOf({ reasoning: 'more', reasoning_details: [{}] }),
    chunkOf({ content: 'Hel' }),
    { ...chunkOf({ content: 'lo' }), system_fingerprint: 'fp' },
    chunkOf({}, 'stop'),
    usageChunk,
  );
  assert.equal(textIn(events), 'Hello');
  assert.equal(textIn(events, 'reasoning'), 'think more');
  assert.deepEqual(finish, {
    type: 'finish',
    reason: 'stop',
    toolCalls: [],
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64, cacheWriteTokens: 0, reasoningTokens: 7 },
    model: 'sim-1',
  });
});

test('adjacent pieces between two drains are one event', () => {
  const answer = newChatAnswer({ model: 'm', maker: 'chat:host:m', failure: () => new ModelError('server_error', '') });
  answer.take(chunkOf({ content: 'a' }));
  answer.take(chunkOf({ content: 'b' }));
  assert.deepEqual(answer.drain(), [{ type: 'text', delta: 'ab' }]);
  assert.deepEqual(answer.drain(), []);
});

test('a whole message reads like its chunks, also with content in parts and calls without ids', () => {
  const { events, finish } = read({
    choices: [
      {
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: 'Hi' }],
          tool_calls: [{ function: { name: 'a', arguments: { x: 1 } } }, { function: { name: 'b', arguments: '' } }],
        },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: -1, prompt_cache_hit_tokens: 2 },
  });
  assert.equal(textIn(events), 'Hi');
  assert.equal(finish.reason, 'tool_calls');
  assert.equal(finish.model, 'asked');
  assert.deepEqual(finish.toolCalls.map(({ name, arguments: args }) => [name, args]), [['a', '{"x":1}'], ['b', '']]);
  assert.equal(new Set(finish.toolCalls.map(({ id }) => id)).size, 2);
  assert.deepEqual([finish.usage.inputTokens, finish.usage.outputTokens, finish.usage.cacheReadTokens], [3, 0, 2]);
});

test('tool calls are put together by index, with names and arguments in pieces', () => {
  const { finish } = read(
    toolDelta({ index: 0, id: 'a', type: 'function', function: { name: 'get_', arguments: '' } }),
    toolDelta({ index: 1, id: 'b', function: { name: 'send', arguments: '{"t' } }),
    toolDelta({ index: 0, function: { name: 'weather', arguments: '{"city":' } }),
    toolDelta({ index: 1, function: { arguments: 'o":1}' } }),
    toolDelta({ index: 0, id: '', function: { arguments: '"Rom"}' } }),
    chunkOf({}, 'tool_calls'),
  );
  assert.deepEqual(finish.toolCalls, [
    { id: 'a', name: 'get_weather', arguments: '{"city":"Rom"}' },
    { id: 'b', name: 'send', arguments: '{"to":1}' },
  ]);
});

test('servers that number every call 0, or repeat the name, or give no ids at all, are understood', () => {
  const sameIndex = read(
    toolDelta({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    toolDelta({ index: 0, id: 'b', function: { name: 'f', arguments: '{}' } }),
  );
  assert.deepEqual(sameIndex.finish.toolCalls.map(({ id }) => id), ['a', 'b']);
  const repeated = read(
    toolDelta({ index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } }),
    toolDelta({ index: 0, id: 'a', function: { name: 'look', arguments: ':1}' } }),
  );
  assert.deepEqual(repeated.finish.toolCalls, [{ id: 'a', name: 'look', arguments: '{"a":1}' }]);
  const bare = read(
    toolDelta({ function: { name: 'f', arguments: '{"a":' } }),
    toolDelta({ function: { arguments: '1}' } }),
    toolDelta({ function: { name: 'g', arguments: '{}' } }),
  );
  assert.deepEqual(bare.finish.toolCalls.map(({ name, arguments: args }) => [name, args]), [['f', '{"a":1}'], ['g', '{}']]);
  for (const { id } of bare.finish.toolCalls) assert.match(id, /^call_[0-9a-f]{32}$/);
  const twins = read(chunkOf({ tool_calls: [{ index: 0, id: 'x', function: { name: 'f' } }, { index: 1, id: 'x', function: { name: 'g' } }] }));
  assert.equal(new Set(twins.finish.toolCalls.map(({ id }) => id)).size, 2);
});

test('finish reasons of all kinds become one of ours', () => {
  const reasons: readonly (readonly [string, string])[] = [
    ['stop', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'stop'],
    ['something_new', 'stop'],
  ];
  for (const [theirs, ours] of reasons) assert.equal(read(chunkOf({ content: 'x' }, theirs)).finish.reason, ours, theirs);
});

test('a think block stays out of the text', () => {
  const { events } = read(chunkOf({ content: '<thi' }), chunkOf({ content: 'nk>hm</think>' }), chunkOf({ content: '\n\nYes\n<th' }), chunkOf({}, 'stop'));
  assert.equal(textIn(events), 'Yes\n<th');
  assert.equal(textIn(events, 'reasoning'), 'hm');
});

test('an error object and a failing finish reason are thrown', () => {
  for (const chunk of [{ error: { message: 'boom' } }, { error: 'boom' }, chunkOf({}, 'error'), chunkOf({}, 'insufficient_system_resource')]) {
    assert.throws(() => read(chunkOf({ content: 'x' }), chunk), (error) => error instanceof ModelError && error.code === 'server_error');
  }
});

test('what is not an object is malformed; any object at all is survived', () => {
  for (const chunk of [1, 'x', null, []]) assert.throws(() => read(chunk), (error) => error instanceof ModelError && error.code === 'malformed');
  const known = fc.constantFrom('choices', 'delta', 'message', 'content', 'tool_calls', 'function', 'name', 'arguments', 'index', 'id', 'usage', 'finish_reason');
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('stop')),
    tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), fc.array(tie('tree'), { maxLength: 2 }), fc.dictionary(known, tie('tree'), { maxKeys: 4 })),
  }));
  fc.assert(
    fc.property(fc.dictionary(known, tree, { maxKeys: 5 }), (chunk) => {
      const { finish } = read(chunk);
      assert.ok(Array.isArray(finish.toolCalls));
    }),
    { numRuns: 1000 },
  );
});
