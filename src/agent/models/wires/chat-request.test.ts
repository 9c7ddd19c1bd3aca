import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import type { ModelRequest } from '../contract.ts';
import { chatRequest } from './chat-request.ts';
import { plainContext } from '../conformance.test-support.ts';
import { quirksOf } from '../endpoints/providers.ts';
import type { WireContext } from './wire.ts';

const request = (messages: readonly TranscriptMessage[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'm',
  system: 'Be kind.',
  messages,
  tools: [],
  ...more,
});

interface Wire {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly [key: string]: unknown;
}

const wire = (input: ModelRequest, context: Partial<WireContext> = {}): Wire => JSON.parse(chatRequest(input, { ...plainContext, ...context }).body) as Wire;

const photo: Attachment = { kind: 'photo', mime: 'image/png', name: 'cat "x".png', path: 'telegram/cat.png' };

test('the request streams, asks for usage, and has the system prompt first', () => {
  const body = wire(request([{ role: 'user', content: 'hi' }]));
  assert.deepEqual(body, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi' },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('tools, the choice of none and the output limit are sent when they are there', () => {
  const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
  const body = wire(request([{ role: 'user', content: 'hi' }], { tools: [tool], toolChoice: 'none', maxOutputTokens: 50 }));
  assert.deepEqual(body['tools'], [{ type: 'function', function: tool }]);
  assert.equal(body['tool_choice'], 'none');
  assert.equal(body['max_tokens'], 50);
  assert.equal('tool_choice' in wire(request([{ role: 'user', content: 'hi' }], { toolChoice: 'none' })), false);
});

test('each endpoint gets the names it knows', () => {
  const body = (host: string): Wire => wire(request([{ role: 'user', content: 'hi' }], { maxOutputTokens: 50 }), { quirks: quirksOf(host), effort: 'low' });
  assert.deepEqual([body('api.openai.com')['max_completion_tokens'], body('mine.openai.azure.com')['max_completion_tokens'], body('not-openai.com')['max_tokens']], [50, 50, 50]);
  assert.deepEqual([body('api.openai.com')['reasoning_effort'], body('openrouter.ai')['reasoning'], body('openrouter.ai')['usage']], ['low', { effort: 'low' }, { include: true }]);
});

test('what an endpoint was found not to take is not sent again', () => {
  const full = request([{ role: 'user', content: 'hi' }], { maxOutputTokens: 50 });
  const body = wire(full, { effort: 'low', conceded: new Set(['stream_options', 'effort', 'token_limit']) });
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'max_completion_tokens', 'stream']);
  assert.equal(wire(full, { conceded: new Set(['stream']) })['stream'], false);
});

test('reasoning, its details and signatures go back with the call they came with, and only to their maker', () => {
  const replay = { maker: 'wire:host:m', data: { reasoning: true, details: [{ type: 'reasoning.text', signature: 's' }], extras: { a: { google: { thought_signature: 'sig' } } } } };
  const round: TranscriptMessage[] = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: '', reasoning: 'hm', replay, toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] },
    { role: 'tool', content: 'x', toolCallId: 'a' },
  ];
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
  const asked = (context: Partial<WireContext>): unknown => wire(request(round), context).messages[2];
  assert.deepEqual(asked({}), { role: 'assistant', content: null, reasoning_content: 'hm', reasoning_details: replay.data.details, tool_calls: [{ ...call, extra_content: replay.data.extras.a }] });
  assert.deepEqual(asked({ maker: 'other' }), { role: 'assistant', content: null, tool_calls: [call] });
  assert.deepEqual(asked({ maker: 'other', quirks: quirksOf('api.deepseek.com') }), { role: 'assistant', content: null, reasoning_content: '', tool_calls: [call] });
  const foreign = { ...call, extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };
  assert.deepEqual(asked({ maker: 'other', quirks: quirksOf('generativelanguage.googleapis.com') }), { role: 'assistant', content: null, tool_calls: [foreign] });
  assert.deepEqual(asked({ maker: 'other', conceded: new Set(['bare_calls', 'unsigned_calls']) }), { role: 'assistant', content: null, reasoning_content: '', tool_calls: [foreign] });
});

test('a tool round becomes calls and results, and a list of calls is never empty', () => {
  const body = wire(
    request([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'look', arguments: '{"x": 1}' }], reasoning: 'hm', finishReason: 'tool_calls' },
      { role: 'tool', content: '', toolCallId: 'a', toolName: 'look' },
      { role: 'assistant', content: 'done', toolCalls: [] },
    ]),
  );
  assert.deepEqual(body.messages.slice(2), [
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"x": 1}' } }] },
    { role: 'tool', tool_call_id: 'a', content: '(no output)' },
    { role: 'assistant', content: 'done' },
  ]);
});

test('what a model once got wrong cannot make a server refuse the conversation for ever', () => {
  const calls = [
    { id: 'a', name: 'bad name!', arguments: '{"x": ' },
    { id: 'b', name: '', arguments: '[1]' },
    { id: 'c', name: 'x'.repeat(100), arguments: '' },
  ];
  const body = wire(request([{ role: 'user', content: 'lone \uD800 surrogate' }, { role: 'assistant', content: '', toolCalls: calls }]));
  const functions = (body.messages[2]!['tool_calls'] as { function: { name: string; arguments: string } }[]).map((call) => call.function);
  assert.deepEqual(functions.map(({ name }) => name), ['bad_name_', 'unnamed', 'x'.repeat(64)]);
  assert.deepEqual(functions.map((each) => each.arguments), ['{}', '{}', '{}']);
  assert.deepEqual(body.messages[1], { role: 'user', content: 'lone \uFFFD surrogate' });
});

test('consecutive user messages are merged with a blank line', () => {
  assert.equal(wire(request([{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }])).messages[1]?.['content'], 'a\n\nb');
});

test('an image that was loaded is a part of the message; any other file is named with its path', () => {
  const pdf: Attachment = { kind: 'document', mime: 'application/pdf', name: 'a.pdf', path: 'telegram/a.pdf' };
  const row: TranscriptMessage = { role: 'user', content: 'look', attachments: [photo, pdf] };
  const note = 'look\n\n[attached photo "cat \\"x\\".png" (image/png), file "telegram/cat.png"]\n[attached document "a.pdf" (application/pdf), file "telegram/a.pdf"]';
  assert.equal(wire(request([row])).messages[1]?.['content'], note);
  assert.deepEqual(wire(request([row]), { images: new Map([[photo, { mime: 'image/png', base64: 'AA==' }]]) }).messages[1]?.['content'], [
    { type: 'text', text: note },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
  ]);
});
