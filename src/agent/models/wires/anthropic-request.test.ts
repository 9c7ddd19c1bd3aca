import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import { look, plainContext, question } from '../conformance.test-support.ts';
import type { ModelRequest } from '../contract.ts';
import { quirksOf } from '../endpoints/providers.ts';
import { anthropicRequest } from './anthropic-request.ts';
import type { ReplayPart, WireContext } from './wire.ts';

type Body = Anthropic.MessageCreateParamsStreaming;

const made = (request: Partial<ModelRequest>, context: Partial<WireContext> = {}): { readonly body: Body; readonly headers: unknown } => {
  const { body, headers } = anthropicRequest({ ...question, ...request }, { ...plainContext, ...context });
  return { body: JSON.parse(body) as Body, headers };
};

const photo: Attachment = { kind: 'photo', mime: 'image/png', name: 'cat.png', path: 'a/cat.png' };
const thinking = { type: 'thinking', thinking: 'hm', signature: 'SEALED' } as const;
const parts: readonly ReplayPart[] = [{ type: 'opaque', json: thinking }, { type: 'text', chars: 6 }, { type: 'call', id: 'toolu_a' }, { type: 'call', id: 'toolu_b' }];
const mark = { cache_control: { type: 'ephemeral' } } as const;

const round: TranscriptMessage[] = [
  { role: 'user', content: 'look', attachments: [photo] },
  {
    role: 'assistant',
    content: 'Let me',
    toolCalls: [
      { id: 'toolu_a', name: 'look', arguments: '{"x":1}' },
      { id: 'toolu_b', name: 'look', arguments: 'broken' },
    ],
    replay: { maker: 'wire:host:m', data: parts },
  },
  { role: 'tool', content: 'saw 1', toolCallId: 'toolu_a', toolName: 'look' },
  { role: 'tool', content: '', toolCallId: 'toolu_b', toolName: 'look' },
];

test('a conversation with images, tools and thinking is a request as Anthropic types it, with four marks for the cache', () => {
  const expected = {
    model: 'm',
    tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { x: { type: 'number' } } }, ...mark }],
    system: [{ type: 'text', text: 'Be kind.', ...mark }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
          { type: 'text', text: 'look\n\n[attached photo "cat.png" (image/png), file "a/cat.png"]', ...mark },
        ],
      },
      {
        role: 'assistant',
        content: [thinking, { type: 'text', text: 'Let me' }, { type: 'tool_use', id: 'toolu_a', name: 'look', input: { x: 1 } }, { type: 'tool_use', id: 'toolu_b', name: 'look', input: {} }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_a', content: 'saw 1' },
          { type: 'tool_result', tool_use_id: 'toolu_b', content: '(no output)', ...mark },
        ],
      },
    ],
    tool_choice: { type: 'none' },
    max_tokens: 50,
    stream: true,
  } satisfies Body;
  const request: Partial<ModelRequest> = { messages: round, tools: [look], toolChoice: 'none', maxOutputTokens: 50 };
  assert.deepEqual(made(request, { images: new Map([[photo, { mime: 'image/png', base64: 'AA==' }]]) }), { body: expected, headers: undefined });
});

test('marks stand behind the newest two messages of people and tools, last an hour if wished, and are left out where they are refused', () => {
  const messages = ['a', 'b', 'c'].flatMap((name): TranscriptMessage[] => [{ role: 'user', content: `ask ${name}` }, { role: 'assistant', content: `say ${name}` }]);
  const marked = (context: Partial<WireContext>): readonly boolean[] => made({ messages: [...messages, { role: 'user', content: 'now' }] }, context).body.messages.map((message) => JSON.stringify(message).includes('cache_control'));
  assert.deepEqual(marked({}), [false, false, false, false, true, false, true]);
  assert.deepEqual(marked({ conceded: new Set(['cache_control']) }), Array(7).fill(false));
  assert.deepEqual(made({}, { cacheTtl: '1h' }).body.system, [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral', ttl: '1h' } }]);
});

test('each Claude is told to think in the way it knows', () => {
  const asked = (model: string, context: Partial<WireContext>): unknown => {
    const { thinking: mode, output_config: effort, max_tokens: limit } = made({ model }, context).body;
    return [mode, effort, limit];
  };
  assert.deepEqual(asked('claude-haiku-4-5', { effort: 'high' }), [{ type: 'enabled', budget_tokens: 20_000 }, undefined, 52_000]);
  assert.deepEqual(asked('claude-opus-5', { effort: 'xhigh' }), [{ type: 'adaptive', display: 'summarized' }, { effort: 'xhigh' }, 32_000]);
  assert.deepEqual(asked('claude-opus-5', { effort: 'none' }), [{ type: 'disabled' }, undefined, 32_000]);
  assert.deepEqual(asked('claude-opus-5', {}), [undefined, undefined, 32_000]);
  assert.deepEqual(asked('claude-opus-5', { effort: 'low', conceded: new Set(['effort']) }), [undefined, undefined, 32_000]);
  assert.deepEqual(asked('unheard-of', {}), [undefined, undefined, 8192]);
});

test('a budget is not given in the middle of calls that were made without thinking', () => {
  const messages = round.with(1, { role: 'assistant', content: 'Let me', toolCalls: round[1]!.toolCalls! });
  assert.equal(made({ model: 'claude-haiku-4-5', messages }, { effort: 'high' }).body.thinking, undefined);
  assert.deepEqual(made({ model: 'claude-haiku-4-5', messages: round }, { effort: 'high' }).body.thinking, { type: 'enabled', budget_tokens: 20_000 });
});

test('Anthropic itself is told to drop thinking that no longer fits the conversation, by models that would refuse it', () => {
  const quirks = quirksOf('api.anthropic.com');
  const { body, headers } = made({ model: 'claude-opus-5-5', messages: round }, { quirks });
  assert.deepEqual(body.thinking, { type: 'adaptive', display: 'summarized', block_binding: { prefix_mismatch_behavior: 'drop_block' } });
  assert.deepEqual(headers, { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' });
  assert.equal(made({ model: 'claude-opus-5-5' }, { quirks }).headers, undefined, 'without thinking there is nothing to drop');
  assert.equal(made({ model: 'claude-opus-4-8', messages: round }, { quirks }).body.thinking, undefined);
});

test('text of nothing but space is no block', () => {
  const messages = [round[0]!, { role: 'assistant' as const, content: '\n\n', toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] }];
  assert.deepEqual(made({ messages }).body.messages[1]?.content, [{ type: 'tool_use', id: 'a', name: 'look', input: {} }]);
});
