import { ModelError } from '../../core/errors.ts';
import { noUsage } from '../../core/transcript.ts';
import type { ToolCall, Usage } from '../../core/transcript.ts';
import { addCall, newPieceQueue, settledReason } from './answer.ts';
import type { Answer } from './answer.ts';
import type { FinishReason } from './contract.ts';
import { countOf, listOf, recordOf, textOf } from './json-fields.ts';
import { replayOf } from './wire.ts';
import type { AnswerContext, ReplayPart } from './wire.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One block of the content, while it is being written. */
interface Draft {
  readonly type: string;
  /** As it began. */
  readonly begin: Fields;
  chars: number;
  readonly pieces: string[];
  signature: string;
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

/** Counts come with the beginning and with the end; the later ones are the better ones. */
const usageOf = (counts: Fields): Usage => {
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

const argumentsOf = (draft: Draft): string => {
  const written = draft.pieces.join('');
  if (written !== '') return written;
  return JSON.stringify(recordOf(draft.begin['input']) ?? {});
};

const opaqueOf = (draft: Draft): ReplayPart | undefined => {
  if (draft.type === 'redacted_thinking') return { type: 'opaque', json: { type: 'redacted_thinking', data: draft.begin['data'] } };
  if (draft.signature === '') return undefined;
  return { type: 'opaque', json: { type: 'thinking', thinking: draft.pieces.join(''), signature: draft.signature } };
};

/** An answer of an endpoint that speaks Anthropic's Messages. */
export const newAnthropicAnswer = (context: AnswerContext): Answer => {
  const pieces = newPieceQueue();
  const drafts = new Map<number, Draft>();
  let begun = false;
  let complete = false;
  let reason: string | undefined;
  let counts: Fields = {};
  let { model } = context;

  const count = (usage: unknown): void => {
    const known = Object.entries(recordOf(usage) ?? {}).filter(([, value]) => value !== null);
    counts = { ...counts, ...Object.fromEntries(known) };
  };

  const grow = (draft: Draft, text: string, type: 'text' | 'reasoning'): void => {
    if (type === 'text') draft.chars += text.length;
    else draft.pieces.push(text);
    pieces.add(type, text);
  };

  const begin = (index: number, block: Fields): void => {
    const draft: Draft = { type: textOf(block['type']) ?? '', begin: block, chars: 0, pieces: [], signature: textOf(block['signature']) ?? '' };
    drafts.set(index, draft);
    grow(draft, textOf(block['text']) ?? '', 'text');
    if (draft.type === 'thinking') grow(draft, textOf(block['thinking']) ?? '', 'reasoning');
  };

  const extend = (index: number, delta: Fields): void => {
    const draft = drafts.get(index);
    if (draft === undefined) throw new ModelError('malformed', 'the model went on with a block that it had not begun');
    switch (delta['type']) {
      case 'text_delta':
        return grow(draft, textOf(delta['text']) ?? '', 'text');
      case 'thinking_delta':
        return grow(draft, textOf(delta['thinking']) ?? '', 'reasoning');
      case 'signature_delta':
        draft.signature += textOf(delta['signature']) ?? '';
        return undefined;
      case 'input_json_delta':
        return void draft.pieces.push(textOf(delta['partial_json']) ?? '');
      default:
        return undefined;
    }
  };

  const takeMessage = (message: Fields): void => {
    begun = true;
    model = textOf(message['model']) || model;
    count(message['usage']);
    for (const [index, block] of (listOf(message['content']) ?? []).entries()) begin(index, recordOf(block) ?? {});
    reason = textOf(message['stop_reason']) ?? reason;
  };

  const takeEvent = (event: Fields): void => {
    const index = countOf(event['index']) ?? 0;
    switch (event['type']) {
      case 'message_start':
        return takeMessage(recordOf(event['message']) ?? {});
      case 'message':
        return takeMessage(event);
      case 'content_block_start':
        return begin(index, recordOf(event['content_block']) ?? {});
      case 'content_block_delta':
        return extend(index, recordOf(event['delta']) ?? {});
      case 'message_delta':
        reason = textOf(recordOf(event['delta'])?.['stop_reason']) ?? reason;
        return count(event['usage']);
      case 'message_stop':
        complete = true;
        return undefined;
      default:
        return undefined;
    }
  };

  return {
    get begun() {
      return begun;
    },
    get finished() {
      return reason !== undefined;
    },
    get complete() {
      return complete;
    },
    take(json) {
      const event = recordOf(json);
      if (event === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
      if (event['error'] !== undefined && event['error'] !== null) throw context.failure(event['error']);
      takeEvent(event);
    },
    drain: pieces.drain,
    finish() {
      const written = [...drafts].toSorted(([a], [b]) => a - b).map(([, draft]) => draft);
      const toolCalls: ToolCall[] = [];
      const parts = written.flatMap((draft): readonly ReplayPart[] => {
        if (draft.type === 'text') return [{ type: 'text', chars: draft.chars }];
        if (draft.type !== 'tool_use') return [opaqueOf(draft)].filter((part) => part !== undefined);
        const { id } = addCall(toolCalls, { id: textOf(draft.begin['id']) ?? '', name: textOf(draft.begin['name']) ?? '', arguments: argumentsOf(draft) });
        return [{ type: 'call', id }];
      });
      const replay = parts.some(({ type }) => type === 'opaque') ? replayOf(context.maker, parts) : undefined;
      const usage = Object.keys(counts).length === 0 ? noUsage : usageOf(counts);
      return { type: 'finish', reason: settledReason(finishReasons[reason ?? 'end_turn'] ?? 'stop', toolCalls.length > 0), toolCalls, usage, model, ...(replay !== undefined && { replay }) };
    },
  };
};
