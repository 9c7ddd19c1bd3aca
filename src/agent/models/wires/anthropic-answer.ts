import { ModelError } from '../../../core/errors.ts';
import { noUsage } from '../../../core/transcript.ts';
import type { ToolCall, Usage } from '../../../core/transcript.ts';
import type { Finish, FinishReason } from '../contract.ts';
import { addCall, newPieceQueue, settledReason } from './answer.ts';
import type { Answer, PieceQueue } from './answer.ts';
import { countOf, listOf, recordOf, textOf } from './json-fields.ts';
import { replayOf } from './wire.ts';
import type { AnswerContext, ReplayPart } from './wire.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One block of the content, while it is being written. */
interface Draft {
  readonly type: string;
  /** As it began. */
  readonly begin: Fields;
  /** Of its text. */
  chars: number;
  /** Of thinking or of arguments. */
  readonly pieces: string[];
  signature: string;
}

/** An answer, while it is being read. */
interface Reading {
  readonly context: AnswerContext;
  readonly pieces: PieceQueue;
  /** By their place in the content. */
  readonly drafts: Map<number, Draft>;
  begun: boolean;
  complete: boolean;
  reason: string | undefined;
  counts: Fields;
  model: string;
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const usageOf = (counts: Fields): Usage => {
  if (Object.keys(counts).length === 0) return noUsage;
  const cacheReadTokens = countOf(counts['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = countOf(counts['cache_creation_input_tokens']) ?? 0;
  return {
    inputTokens: (countOf(counts['input_tokens']) ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: countOf(counts['output_tokens']) ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: countOf(recordOf(counts['output_tokens_details'])?.['thinking_tokens']) ?? 0,
  };
};

/** Counts come with the beginning and with the end; the later ones are the better ones. */
const count = (reading: Reading, usage: unknown): void => {
  const known = Object.entries(recordOf(usage) ?? {}).filter(([, value]) => value !== null);
  reading.counts = { ...reading.counts, ...Object.fromEntries(known) };
};

const say = (reading: Reading, draft: Draft, text: string): void => {
  draft.chars += text.length;
  reading.pieces.add('text', text);
};

const think = (reading: Reading, draft: Draft, text: string): void => {
  draft.pieces.push(text);
  reading.pieces.add('reasoning', text);
};

const begin = (reading: Reading, index: number, block: Fields): void => {
  const draft: Draft = { type: textOf(block['type']) ?? '', begin: block, chars: 0, pieces: [], signature: textOf(block['signature']) ?? '' };
  reading.drafts.set(index, draft);
  if (draft.type === 'text') say(reading, draft, textOf(block['text']) ?? '');
  if (draft.type === 'thinking') think(reading, draft, textOf(block['thinking']) ?? '');
};

const extend = (reading: Reading, index: number, delta: Fields): void => {
  const draft = reading.drafts.get(index);
  if (draft === undefined) throw new ModelError('malformed', 'the model went on with a block that it had not begun');
  switch (delta['type']) {
    case 'text_delta':
      return say(reading, draft, textOf(delta['text']) ?? '');
    case 'thinking_delta':
      return think(reading, draft, textOf(delta['thinking']) ?? '');
    case 'signature_delta':
      draft.signature += textOf(delta['signature']) ?? '';
      return undefined;
    case 'input_json_delta':
      return void draft.pieces.push(textOf(delta['partial_json']) ?? '');
    default:
      return undefined;
  }
};

const takeMessage = (reading: Reading, message: Fields): void => {
  reading.begun = true;
  reading.model = textOf(message['model']) || reading.model;
  count(reading, message['usage']);
  for (const [index, block] of (listOf(message['content']) ?? []).entries()) begin(reading, index, recordOf(block) ?? {});
  reading.reason = textOf(message['stop_reason']) ?? reading.reason;
};

const take = (reading: Reading, json: unknown): void => {
  const event = recordOf(json);
  if (event === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
  if (event['error'] !== undefined && event['error'] !== null) throw reading.context.failure(event['error']);
  const index = countOf(event['index']) ?? 0;
  switch (event['type']) {
    case 'message_start':
      return takeMessage(reading, recordOf(event['message']) ?? {});
    case 'message':
      return takeMessage(reading, event);
    case 'content_block_start':
      return begin(reading, index, recordOf(event['content_block']) ?? {});
    case 'content_block_delta':
      return extend(reading, index, recordOf(event['delta']) ?? {});
    case 'message_delta':
      reading.reason = textOf(recordOf(event['delta'])?.['stop_reason']) ?? reading.reason;
      return count(reading, event['usage']);
    case 'message_stop':
      reading.complete = true;
      return undefined;
    default:
      return undefined;
  }
};

const argumentsOf = (draft: Draft): string => draft.pieces.join('') || JSON.stringify(recordOf(draft.begin['input']) ?? {});

/** Thinking that was not signed cannot be sent back. */
const opaqueOf = (draft: Draft): readonly ReplayPart[] => {
  if (draft.type === 'redacted_thinking') return [{ type: 'opaque', json: { type: 'redacted_thinking', data: draft.begin['data'] } }];
  if (draft.type !== 'thinking' || draft.signature === '') return [];
  return [{ type: 'opaque', json: { type: 'thinking', thinking: draft.pieces.join(''), signature: draft.signature } }];
};

/** The pieces of the message in their order; calls are added to `calls`. */
const partsOf = (draft: Draft, calls: ToolCall[]): readonly ReplayPart[] => {
  if (draft.type === 'text') return [{ type: 'text', chars: draft.chars }];
  if (draft.type !== 'tool_use') return opaqueOf(draft);
  const { id } = addCall(calls, { id: textOf(draft.begin['id']) ?? '', name: textOf(draft.begin['name']) ?? '', arguments: argumentsOf(draft) });
  return [{ type: 'call', id }];
};

const finish = ({ context, drafts, reason, counts, model }: Reading): Finish => {
  const toolCalls: ToolCall[] = [];
  const parts = [...drafts].toSorted(([a], [b]) => a - b).flatMap(([, draft]) => partsOf(draft, toolCalls));
  const replay = parts.some(({ type }) => type === 'opaque') ? replayOf(context.maker, parts) : undefined;
  const said = finishReasons[reason ?? 'end_turn'] ?? 'stop';
  return { type: 'finish', reason: settledReason(said, toolCalls.length > 0), toolCalls, usage: usageOf(counts), model, ...(replay !== undefined && { replay }) };
};

/** An answer of an endpoint that speaks Anthropic's Messages. */
export const newAnthropicAnswer = (context: AnswerContext): Answer => {
  const reading: Reading = { context, pieces: newPieceQueue(), drafts: new Map(), begun: false, complete: false, reason: undefined, counts: {}, model: context.model };
  return {
    get begun() {
      return reading.begun;
    },
    get finished() {
      return reading.reason !== undefined;
    },
    get complete() {
      return reading.complete;
    },
    take: (json) => take(reading, json),
    drain: reading.pieces.drain,
    finish: () => finish(reading),
  };
};
