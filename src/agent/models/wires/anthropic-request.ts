import type { ToolCall, TranscriptMessage } from '../../../core/transcript.ts';
import { alternate } from '../../alternation.ts';
import type { ReasoningEffort } from '../../../core/reasoning-effort.ts';
import type { ModelRequest, ToolChoice } from '../contract.ts';
import { mostOutputTokens, thinkingOf } from '../facts/known-models.ts';
import { imagesOf, partsOf, textSlices, wireArguments, wireId, wireName, wireResult, wireText } from './wire.ts';
import type { WireContext, WireRequest } from './wire.ts';

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

const userBlocks = (row: TranscriptMessage, context: WireContext): readonly Block[] => [
  ...imagesOf(row, context.images).map(({ mime, base64 }) => ({ type: 'image', source: { type: 'base64', media_type: mime, data: base64 } })),
  { type: 'text', text: wireText(row, context) },
];

const callBlock = (call: ToolCall): Block => ({ type: 'tool_use', id: wireId(call.id), name: wireName(call.name), input: JSON.parse(wireArguments(call.arguments)) as unknown });

const assistantBlocks = (row: TranscriptMessage, context: WireContext): readonly Block[] => {
  const parts = partsOf(row, context.maker);
  const slices = textSlices(row, parts);
  const calls = new Map((row.toolCalls ?? []).map((call) => [call.id, call]));
  return parts.flatMap((part, index): readonly Block[] => {
    switch (part.type) {
      case 'opaque':
        return [part.json as Block];
      case 'text':
        // A block of nothing but space is refused.
        return slices[index]?.trim() === '' ? [] : [{ type: 'text', text: slices[index] }];
      case 'call': {
        const call = calls.get(part.id);
        return call === undefined ? [] : [callBlock(call)];
      }
      default:
        return part satisfies never;
    }
  });
};

/** The results of one round of calls are one message. */
const toMessages = (rows: readonly TranscriptMessage[], context: WireContext): readonly Message[] => {
  const messages: { role: Message['role']; content: Block[] }[] = [];
  for (const row of rows) {
    const role = row.role === 'assistant' ? 'assistant' : 'user';
    const last = messages.at(-1);
    const blocks =
      row.role === 'assistant'
        ? assistantBlocks(row, context)
        : row.role === 'user'
          ? userBlocks(row, context)
          : [{ type: 'tool_result', tool_use_id: wireId(row.toolCallId ?? ''), content: wireResult(row) }];
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  }
  return messages;
};

type CacheMark = { readonly cache_control: { readonly type: 'ephemeral'; readonly ttl?: '1h' } };

const markOf = (context: WireContext): CacheMark | undefined =>
  context.conceded.has('cache_control') ? undefined : { cache_control: { type: 'ephemeral', ...(context.cacheTtl === '1h' && { ttl: '1h' as const }) } };

/** The endpoint takes four marks: one behind the tools, one behind the system prompt, and these. */
const markedMessages = 2;

const marked = <T extends object>(list: readonly T[], mark: CacheMark | undefined): readonly T[] => {
  const last = list.at(-1);
  return last === undefined || mark === undefined ? list : [...list.slice(0, -1), { ...last, ...mark }];
};

/** The newest messages of people and tools are where the next call will go on reading. */
const withMarks = (messages: readonly Message[], mark: CacheMark | undefined): readonly Message[] => {
  const chosen = new Set(messages.filter(({ role }) => role === 'user').slice(-markedMessages));
  return messages.map((message) => (chosen.has(message) ? { ...message, content: marked(message.content, mark) } : message));
};

const isThinking = (block: Block | undefined): boolean => block?.type === 'thinking' || block?.type === 'redacted_thinking';

/** In the middle of a round of calls thinking cannot be switched on: the message that made the calls would have to begin with it. */
const mayThink = (messages: readonly Message[]): boolean => {
  const last = messages.at(-1);
  if (last?.content[0]?.type !== 'tool_result') return true;
  return isThinking(messages.at(-2)?.content[0]);
};

const budgets: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = { minimal: 1024, low: 4096, medium: 10_000, high: 20_000, xhigh: 32_000, max: 32_000 };
const efforts: Readonly<Record<Exclude<ReasoningEffort, 'none'>, string>> = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' };

const bindingBeta = 'thinking-binding-controls-2026-08-01';

interface Thinking {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Of the output that thinking may use up. */
  readonly tokens: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const noThinking: Thinking = { fields: {}, tokens: 0 };

const thinkingFor = (request: ModelRequest, context: WireContext, messages: readonly Message[]): Thinking => {
  const { effort, conceded, quirks } = context;
  if (conceded.has('effort')) return noThinking;
  const style = thinkingOf(request.model);
  if (effort === 'none') return style === 'budget' ? noThinking : { fields: { thinking: { type: 'disabled' } }, tokens: 0 };
  const replays = messages.some(({ content }) => content.some(isThinking));
  // Earlier thinking is bound to what stood before it; a conversation that was compressed must not be refused for that.
  const bound = quirks.dropsThinking && style === 'bound' && replays;
  if (effort === undefined && !bound) return noThinking;
  if (style === 'budget') {
    if (effort === undefined || !mayThink(messages)) return noThinking;
    return { fields: { thinking: { type: 'enabled', budget_tokens: budgets[effort] } }, tokens: budgets[effort] };
  }
  const thinking = { type: 'adaptive', display: 'summarized', ...(bound && { block_binding: { prefix_mismatch_behavior: 'drop_block' } }) };
  return {
    fields: { thinking, ...(effort !== undefined && { output_config: { effort: efforts[effort] } }) },
    tokens: 0,
    ...(bound && { headers: { 'anthropic-beta': bindingBeta } }),
  };
};

const toolChoiceOf = (choice: ToolChoice): Readonly<Record<string, string>> => (typeof choice === 'string' ? { type: choice === 'required' ? 'any' : choice } : { type: 'tool', ...choice });

/** The JSON body of a call, with marks at the ends of what the endpoint shall remember. */
export const anthropicRequest = (request: ModelRequest, context: WireContext): WireRequest => {
  const mark = markOf(context);
  const messages = toMessages(alternate(request.messages), context);
  const { fields, tokens, headers } = thinkingFor(request, context, messages);
  const tools = request.tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
  const body = JSON.stringify({
    model: request.model,
    ...(tools.length > 0 && { tools: marked(tools, mark) }),
    ...(request.system !== '' && { system: marked([{ type: 'text', text: request.system.toWellFormed() }], mark) }),
    messages: withMarks(messages, mark),
    ...(tools.length > 0 && request.toolChoice !== undefined && { tool_choice: toolChoiceOf(request.toolChoice) }),
    max_tokens: (request.maxOutputTokens ?? mostOutputTokens(request.model)) + tokens,
    ...fields,
    stream: !context.conceded.has('stream'),
  });
  return { body, ...(headers !== undefined && { headers }) };
};
