import type { ToolCall } from '../../core/transcript.ts';
import { chunkOf, raw } from './chat-simulator.ts';
import type { Answer } from './chat-simulator.ts';
import type { Wire } from './wires/wire.ts';

/** What a simulated model answers, whatever it speaks. */
export interface ScriptedAnswer {
  /** With the seal under which its maker wants it back. */
  readonly reasoning?: { readonly text: string; readonly seal: string };
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  readonly finish?: 'stop' | 'length' | 'filter';
}

/** How a wire format writes answers and errors. */
export interface Script {
  readonly path: string;
  /** Server-sent events, one each; the last says that it is over. */
  events(answer: ScriptedAnswer): readonly string[];
  /** The same answer in one piece. */
  whole(answer: ScriptedAnswer): unknown;
  /** An error in the middle of a stream. */
  errorEvent(type: string, message: string): string;
  /** The body of a refusal. */
  error(type: string, message: string): unknown;
}

const words = (text: string | undefined): readonly string[] => text?.match(/\S+\s*/g) ?? [];

const data = (json: unknown): string => `data: ${JSON.stringify(json)}\n\n`;

interface TypedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

const named = (json: TypedEvent): string => `event: ${json.type}\n${data(json)}`;
const halves = (text: string): readonly [string, string] => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))];

const openAiError = (type: string, message: string): unknown => ({ error: { message, type, param: null, code: type } });

/** In every format: 100 tokens read, 64 of them from a cache; 20 written, 7 of them thoughts. */
const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 64 }, completion_tokens_details: { reasoning_tokens: 7 } };
const chatFinish = { stop: 'stop', length: 'length', filter: 'content_filter' } as const;

const chatCall = (call: ToolCall, index: number, args: string): unknown => ({ index, id: call.id, type: 'function', function: { name: call.name, arguments: args } });
const chatReason = ({ calls, finish = 'stop' }: ScriptedAnswer): string => (calls !== undefined && finish === 'stop' ? 'tool_calls' : chatFinish[finish]);

const chat: Script = {
  path: '/v1/chat/completions',
  events: (answer) => [
    data(chunkOf({ role: 'assistant', content: '' })),
    ...(answer.reasoning === undefined ? [] : [data(chunkOf({ reasoning_content: answer.reasoning.text, reasoning_details: [{ type: 'reasoning.encrypted', index: 0, data: answer.reasoning.seal }] }))]),
    ...words(answer.text).map((content) => data(chunkOf({ content }))),
    ...(answer.calls ?? []).flatMap((call, index) => {
      const [first, second] = halves(call.arguments);
      return [data(chunkOf({ tool_calls: [chatCall(call, index, first)] })), data(chunkOf({ tool_calls: [{ index, function: { arguments: second } }] }))];
    }),
    data(chunkOf({}, chatReason(answer))),
    data({ ...chunkOf({}), choices: [], usage: chatUsage }),
    'data: [DONE]\n\n',
  ],
  whole: (answer) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'sim-1',
    choices: [
      {
        index: 0,
        finish_reason: chatReason(answer),
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(answer.reasoning !== undefined && { reasoning_content: answer.reasoning.text, reasoning_details: [{ type: 'reasoning.encrypted', index: 0, data: answer.reasoning.seal }] }),
          ...(answer.calls !== undefined && { tool_calls: answer.calls.map((call, index) => chatCall(call, index, call.arguments)) }),
        },
      },
    ],
    usage: chatUsage,
  }),
  errorEvent: (type, message) => data({ error: { message, type, code: null } }),
  error: openAiError,
};

interface Item extends TypedEvent {
  readonly id: string;
}

const responsesItems = (answer: ScriptedAnswer): readonly Item[] => [
  ...(answer.reasoning === undefined ? [] : [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: answer.reasoning.text }], encrypted_content: answer.reasoning.seal }]),
  ...(answer.text === undefined ? [] : [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: answer.text, annotations: [], logprobs: [] }] }]),
  ...(answer.calls ?? []).map((call, index) => ({ id: `fc_${index}`, type: 'function_call', status: 'completed', call_id: call.id, name: call.name, arguments: call.arguments })),
];

const response = (answer: ScriptedAnswer, status: string): Readonly<Record<string, unknown>> => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'sim-1',
  status,
  error: null,
  incomplete_details: status === 'incomplete' ? { reason: answer.finish === 'filter' ? 'content_filter' : 'max_output_tokens' } : null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  output: status === 'in_progress' ? [] : responsesItems(answer),
  usage: status === 'in_progress' ? null : { input_tokens: 100, output_tokens: 20, total_tokens: 120, input_tokens_details: { cached_tokens: 64, cache_write_tokens: 0 }, output_tokens_details: { reasoning_tokens: 7 } },
});

const statusOf = ({ finish = 'stop' }: ScriptedAnswer): string => (finish === 'stop' ? 'completed' : 'incomplete');

/** An item as it begins: what it says comes in pieces. */
const emptied = (item: Item): Item => ({ ...item, ...('content' in item && { content: [] }), ...('summary' in item && { summary: [] }), ...('arguments' in item && { arguments: '' }), ...('encrypted_content' in item && { encrypted_content: '' }) });

const itemPieces = (item: Item, answer: ScriptedAnswer, at: number): readonly TypedEvent[] => {
  const where = { item_id: item.id, output_index: at };
  if (item.type === 'reasoning') {
    const part = { ...where, summary_index: 0 };
    return [
      { type: 'response.reasoning_summary_part.added', ...part, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...part, delta: answer.reasoning?.text },
      { type: 'response.reasoning_summary_text.done', ...part, text: answer.reasoning?.text },
      { type: 'response.reasoning_summary_part.done', ...part, part: { type: 'summary_text', text: answer.reasoning?.text } },
    ];
  }
  if (item.type === 'message') {
    const part = { ...where, content_index: 0 };
    return [
      { type: 'response.content_part.added', ...part, part: { type: 'output_text', text: '', annotations: [], logprobs: [] } },
      ...words(answer.text).map((delta) => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...part, text: answer.text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: { type: 'output_text', text: answer.text, annotations: [], logprobs: [] } },
    ];
  }
  const args = String(item['arguments']);
  return [
    ...halves(args).map((delta) => ({ type: 'response.function_call_arguments.delta', ...where, delta })),
    { type: 'response.function_call_arguments.done', ...where, name: item['name'], arguments: args },
  ];
};

const responses: Script = {
  path: '/v1/responses',
  events: (answer) => {
    const events = [
      { type: 'response.created', response: response(answer, 'in_progress') },
      ...responsesItems(answer).flatMap((item, at) => [
        { type: 'response.output_item.added', output_index: at, item: emptied(item) },
        ...itemPieces(item, answer, at),
        { type: 'response.output_item.done', output_index: at, item },
      ]),
      { type: `response.${statusOf(answer)}`, response: response(answer, statusOf(answer)) },
    ];
    return events.map((event, index) => named({ ...event, sequence_number: index }));
  },
  whole: (answer) => response(answer, statusOf(answer)),
  errorEvent: (type, message) => named({ type: 'error', code: type, message, param: null, sequence_number: 9 }),
  error: openAiError,
};

const anthropicFinish = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal' } as const;
const anthropicReason = ({ calls, finish = 'stop' }: ScriptedAnswer): string => (calls !== undefined && finish === 'stop' ? 'tool_use' : anthropicFinish[finish]);

const anthropicBlocks = (answer: ScriptedAnswer): readonly TypedEvent[] => [
  ...(answer.reasoning === undefined ? [] : [{ type: 'thinking', thinking: answer.reasoning.text, signature: answer.reasoning.seal }]),
  ...(answer.text === undefined ? [] : [{ type: 'text', text: answer.text, citations: null }]),
  ...(answer.calls ?? []).map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments || '{}') as unknown })),
];

const anthropicMessage = (answer: ScriptedAnswer, whole: boolean): Readonly<Record<string, unknown>> => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'sim-1',
  content: whole ? anthropicBlocks(answer) : [],
  stop_reason: whole ? anthropicReason(answer) : null,
  stop_sequence: null,
  usage: { input_tokens: 30, cache_read_input_tokens: 64, cache_creation_input_tokens: 6, output_tokens: whole ? 20 : 1, ...(whole && { output_tokens_details: { thinking_tokens: 7 } }) },
});

const blockPieces = (block: TypedEvent, answer: ScriptedAnswer, calls: ReadonlyMap<unknown, ToolCall>): readonly unknown[] => {
  if (block.type === 'thinking') return [{ type: 'thinking_delta', thinking: answer.reasoning?.text }, { type: 'signature_delta', signature: answer.reasoning?.seal }];
  if (block.type === 'text') return words(answer.text).map((text) => ({ type: 'text_delta', text }));
  return ['', ...halves(calls.get(block['id'])?.arguments ?? '')].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
};

const anthropicStart = (block: TypedEvent): unknown => {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (block.type === 'text') return { type: 'text', text: '', citations: null };
  return { ...block, input: {} };
};

const anthropic: Script = {
  path: '/v1/messages',
  events: (answer) => {
    const calls = new Map((answer.calls ?? []).map((call): [unknown, ToolCall] => [call.id, call]));
    const blocks = anthropicBlocks(answer).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: anthropicStart(block) },
      ...blockPieces(block, answer, calls).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]);
    return [
      { type: 'message_start', message: anthropicMessage(answer, false) },
      { type: 'ping' },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason: anthropicReason(answer), stop_sequence: null }, usage: { output_tokens: 20, output_tokens_details: { thinking_tokens: 7 } } },
      { type: 'message_stop' },
    ].map(named);
  },
  whole: (answer) => anthropicMessage(answer, true),
  errorEvent: (type, message) => `event: error\n${data({ type: 'error', error: { type, message } })}`,
  error: (type, message) => ({ type: 'error', error: { type, message }, request_id: 'req_1' }),
};

export const scripts: { readonly [Name in Wire['name']]: Script } = { chat, responses, anthropic };

/** The answer as a stream. */
export const answers = (script: Script, answer: ScriptedAnswer): Answer => raw(script.events(answer));
