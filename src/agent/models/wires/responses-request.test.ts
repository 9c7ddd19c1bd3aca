import assert from 'node:assert/strict';
import { test } from 'node:test';
import type OpenAI from 'openai';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import { look, plainContext, question } from '../conformance.test-support.ts';
import type { ModelRequest } from '../contract.ts';
import { responsesRequest } from './responses-request.ts';
import type { ReplayPart, WireContext } from './wire.ts';

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;

const body = (request: Partial<ModelRequest>, context: Partial<WireContext> = {}): unknown => JSON.parse(responsesRequest({ ...question, ...request }, { ...plainContext, ...context }).body);

const photo: Attachment = { kind: 'photo', mime: 'image/png', name: 'cat.png', path: 'a/cat.png' };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEALED' };
const parts: readonly ReplayPart[] = [
  { type: 'opaque', json: reasoning },
  { type: 'text', chars: 6, phase: 'commentary' },
  { type: 'call', id: 'call_a' },
];

const round: TranscriptMessage[] = [
  { role: 'user', content: 'look', attachments: [photo] },
  { role: 'assistant', content: 'Let me', toolCalls: [{ id: 'call_a', name: 'look', arguments: '{"x":1}' }], replay: { maker: 'wire:host:m', data: parts } },
  { role: 'tool', content: 'saw 1', toolCallId: 'call_a', toolName: 'look' },
];

test('a conversation with images, tools and reasoning is a request as OpenAI types it', () => {
  const expected = {
    model: 'gpt-5',
    store: false,
    tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters: look.parameters, strict: false }],
    instructions: 'Be kind.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look\n\n[attached photo "cat.png" (image/png), file "a/cat.png"]' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AA==' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEALED' },
      { role: 'assistant', content: 'Let me', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'saw 1' },
    ],
    tool_choice: 'none',
    max_output_tokens: 50,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    stream: true,
  } satisfies Body;
  const request: Partial<ModelRequest> = { model: 'gpt-5', messages: round, tools: [look], toolChoice: 'none', maxOutputTokens: 50 };
  assert.deepEqual(body(request, { effort: 'high', images: new Map([[photo, { mime: 'image/png', base64: 'AA==' }]]) }), expected);
});

test('a model that does not think is not asked for its thoughts', () => {
  assert.deepEqual(body({}), { model: 'm', store: false, instructions: 'Be kind.', input: [{ role: 'user', content: 'hello' }], stream: true } satisfies Body);
});

test('what another model made, and what was changed since, is sent without its seal; ids are made fit', () => {
  const plain = [{ role: 'assistant', content: 'Let me' }, { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"x":1}' }];
  const input = (messages: TranscriptMessage[], context: Partial<WireContext> = {}): readonly unknown[] => (body({ messages }, context) as { input: readonly unknown[] }).input;
  assert.deepEqual(input(round, { maker: 'other' }).slice(1, 3), plain);
  assert.deepEqual(input(round.with(1, { ...round[1]!, content: 'Let m' })).slice(1, 3), [{ role: 'assistant', content: 'Let m' }, plain[1]]);
  const strange = input([round[0]!, { ...round[1]!, toolCalls: [{ id: 'functions.look:0 ', name: 'l k', arguments: 'x' }] }, { ...round[2]!, toolCallId: 'functions.look:0 ' }]) as { call_id?: string }[];
  assert.match(strange[2]!.call_id ?? '', /^call_[0-9a-f]{32}$/);
  assert.equal(strange[2]!.call_id, strange[3]!.call_id);
});
