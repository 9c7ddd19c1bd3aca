import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call, runAgainst } from './turn.test-support.ts';
import type { Run } from './turn.test-support.ts';
import { calls, chunkOf, chunks, newChatSimulator, raw, says, status, usageChunk } from './models/chat-simulator.ts';
import type { ChatSimulator } from './models/chat-simulator.ts';

let simulator: ChatSimulator;
before(async () => {
  simulator = await newChatSimulator();
});
after(() => simulator[Symbol.asyncDispose]());

const run = (options?: Parameters<typeof runAgainst>[1]): Promise<Run> => runAgainst(simulator, options);
const lastBody = () => simulator.requests.at(-1)!.body;

test('an answer is text, then the message, then its usage, then the end', async () => {
  simulator.next(says('Good morning to you'));
  const { outline, text, messages, events } = await run();
  assert.deepEqual(outline, ['message assistant stop', 'usage', 'end completed']);
  assert.equal(text, 'Good morning to you');
  assert.deepEqual(messages, [{ role: 'assistant', content: text, finishReason: 'stop' }]);
  const usage = events.find((event) => event.type === 'usage');
  assert.ok(usage?.type === 'usage' && usage.usage.inputTokens === 100 && usage.model === 'sim-1');
});

test('reasoning is streamed apart and kept with the message; another model may be asked for', async () => {
  simulator.next(chunks(chunkOf({ reasoning_content: 'hm ' }), chunkOf({ reasoning_content: 'ok' }), chunkOf({ content: 'Yes' }, 'stop')));
  const { messages, text } = await run({ input: { model: 'other' } });
  assert.deepEqual(messages, [{ role: 'assistant', content: 'Yes', finishReason: 'stop', reasoning: 'hm ok' }]);
  assert.equal(text, 'Yes');
  assert.equal(lastBody()['model'], 'other');
});

test('failures that may pass are tried again, after the time the server asked for or a growing one', async () => {
  simulator.next(status(429, '', { 'retry-after': '7' }), status(500), status(503), says('at last'));
  const { outline, text } = await run();
  assert.deepEqual(outline, ['retrying 1 7000 rate_limited', 'retrying 2 2000 server_error', 'retrying 3 4000 overloaded', 'message assistant stop', 'usage', 'end completed']);
  assert.equal(text, 'at last');
});

test('after the last retry, and for failures that do not pass, the turn ends with a sentence', async () => {
  simulator.next(status(500), status(500), status(500), status(500));
  const tired = await run();
  assert.deepEqual(tired.outline.at(-1), 'end model_error');
  assert.equal(tired.outline.length, 4);
  assert.deepEqual(tired.end.error, { code: 'server_error', sentence: 'The model had an internal error. Please try again.' });
  simulator.next(status(401));
  const refused = await run();
  assert.deepEqual(refused.outline, ['end model_error']);
  assert.equal(refused.end.error?.code, 'auth');
});

test('a server that asks for more than ten minutes is not waited for', async () => {
  simulator.next(status(429, '', { 'retry-after': '601' }));
  assert.deepEqual((await run()).outline, ['end model_error']);
  simulator.next(status(429, '', { 'retry-after': '600' }), says('ok'));
  assert.equal((await run()).end.reason, 'completed');
});

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;

test('when the stream breaks after text was shown, the text is kept, marked, and not asked for again', async () => {
  const from = simulator.requests.length;
  simulator.next(raw([event(chunkOf({ content: 'Half an ' }))], { then: 'cut' }));
  const { outline, messages, end } = await run();
  assert.deepEqual(outline, ['message assistant cut', 'end model_error']);
  assert.equal(messages[0]?.content, 'Half an ');
  assert.equal(end.error?.code, 'cut_stream');
  assert.match(end.error?.sentence ?? '', /incomplete/);
  assert.equal(simulator.requests.length - from, 1);
});

test('when it breaks before any text, it is asked again and the reasoning starts over', async () => {
  simulator.next(raw([event(chunkOf({ reasoning: 'first ' }))], { then: 'cut' }), chunks(chunkOf({ reasoning: 'second' }), chunkOf({ content: 'ok' }, 'stop')));
  const { outline, messages } = await run();
  assert.equal(outline[0], 'retrying 1 1000 cut_stream');
  assert.equal(messages[0]?.reasoning, 'second');
});

test('an answer that hits the output limit is continued into one message, with more room each time', async () => {
  simulator.next(says('one ', 'length'), says('two ', 'length'), says('three'));
  const { outline, messages, text } = await run({ deps: { maxOutputTokens: 100 } });
  assert.deepEqual(outline, ['message assistant stop', 'usage', 'usage', 'usage', 'end completed']);
  assert.equal(messages[0]?.content, 'one two three');
  assert.equal(text, 'one two three');
  assert.deepEqual(simulator.requests.slice(-3).map(({ body }) => body['max_tokens']), [100, 200, 400]);
  const [, , partial, ask] = lastBody().messages;
  assert.deepEqual([partial?.['role'], partial?.['content'], ask?.['role']], ['assistant', 'one two ', 'user']);
});

test('after three continuations the answer ends as it is', async () => {
  simulator.next(...['a ', 'b ', 'c ', 'd '].map((text) => says(text, 'length')));
  const { messages, end } = await run();
  assert.deepEqual([messages[0]?.content, messages[0]?.finishReason, end.reason], ['a b c d ', 'length', 'completed']);
});

test('a filtered answer keeps what was shown and ends with its own sentence', async () => {
  simulator.next(chunks(chunkOf({ content: 'Well' }), chunkOf({}, 'content_filter')));
  const { outline, end } = await run();
  assert.deepEqual(outline, ['message assistant content_filter', 'usage', 'end model_error']);
  assert.equal(end.error?.code, 'content_blocked');
});

test('an empty answer is asked for again twice, then the turn ends with a sentence and no empty message', async () => {
  const empty = chunks(chunkOf({ content: '' }), chunkOf({ reasoning: 'hm' }), chunkOf({}, 'stop'), usageChunk);
  simulator.next(empty, empty, says('here'));
  const second = await run();
  assert.deepEqual(second.outline, ['retrying 1 0 empty_answer', 'retrying 2 0 empty_answer', 'message assistant stop', 'usage', 'usage', 'usage', 'end completed']);
  assert.deepEqual(second.messages.map(({ content, reasoning }) => [content, reasoning]), [['here', undefined]], 'what was thought for an answer that never came is no part of another');
  simulator.next(empty, empty, empty);
  const never = await run();
  assert.deepEqual(never.messages, []);
  assert.deepEqual([never.end.reason, never.end.error?.code], ['model_error', 'empty_answer']);
});

test('what people say meanwhile joins as their message before the next model call', async () => {
  const waiting = [['and hurry'], ['to the left', 'please'], []];
  simulator.next(calls(call('a')), says('ok'));
  const { outline, messages } = await run({ input: { steering: async () => waiting.shift() ?? [] } });
  assert.deepEqual(outline.filter((line) => line.startsWith('message')), [
    'message user',
    'message assistant tool_calls',
    'message tool a',
    'message user',
    'message user',
    'message assistant stop',
  ]);
  assert.equal(messages[0]?.content, 'and hurry');
  const sent = lastBody().messages;
  assert.equal(sent[1]?.['content'], 'hello\n\nand hurry');
  assert.deepEqual(sent.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  assert.equal(sent.at(-1)?.['content'], 'to the left\n\nplease');
});
