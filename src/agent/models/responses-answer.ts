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

/** One item of the output, while it is being written. */
interface Draft {
  type: string;
  chars: number;
  phase: string | undefined;
  callId: string;
  name: string;
  readonly argumentPieces: string[];
  /** The whole item, as the server ended it. */
  done: Fields | undefined;
  summaries: number;
}

const usageOf = (usage: Fields): Usage => ({
  inputTokens: countOf(usage['input_tokens']) ?? 0,
  outputTokens: countOf(usage['output_tokens']) ?? 0,
  cacheReadTokens: countOf(recordOf(usage['input_tokens_details'])?.['cached_tokens']) ?? 0,
  cacheWriteTokens: countOf(recordOf(usage['input_tokens_details'])?.['cache_write_tokens']) ?? 0,
  reasoningTokens: countOf(recordOf(usage['output_tokens_details'])?.['reasoning_tokens']) ?? 0,
});

const textIn = (item: Fields): string => (listOf(item['content']) ?? []).map((part) => textOf(recordOf(part)?.['text']) ?? textOf(recordOf(part)?.['refusal']) ?? '').join('');

const summaryIn = (item: Fields): string => (listOf(item['summary']) ?? []).map((part) => textOf(recordOf(part)?.['text']) ?? '').join('\n\n');

/** Without encrypted content an item can only be found by the endpoint that stored it, and nothing is stored. */
const opaqueOf = ({ done }: Draft): ReplayPart | undefined => {
  if (done === undefined || typeof done['encrypted_content'] !== 'string') return undefined;
  return { type: 'opaque', json: { type: 'reasoning', id: done['id'], summary: done['summary'] ?? [], encrypted_content: done['encrypted_content'] } };
};

/** Reasoning that nothing follows is refused when it is sent back. */
const withoutTail = (parts: readonly ReplayPart[]): readonly ReplayPart[] => parts.slice(0, parts.findLastIndex((part) => part.type !== 'opaque') + 1);

/** An answer of OpenAI's Responses. */
export const newResponsesAnswer = (context: AnswerContext): Answer => {
  const pieces = newPieceQueue();
  const drafts = new Map<number, Draft>();
  let begun = false;
  let reason: FinishReason | undefined;
  let usage = noUsage;
  let { model } = context;

  const draftAt = (index: number): Draft => {
    const draft = drafts.get(index) ?? { type: '', chars: 0, phase: undefined, callId: '', name: '', argumentPieces: [], done: undefined, summaries: 0 };
    drafts.set(index, draft);
    return draft;
  };

  const say = (draft: Draft, text: string): void => {
    draft.chars += text.length;
    pieces.add('text', text);
  };

  const describe = (draft: Draft, item: Fields): void => {
    draft.type = textOf(item['type']) ?? draft.type;
    draft.phase = textOf(item['phase']) ?? draft.phase;
    draft.callId = textOf(item['call_id']) ?? draft.callId;
    draft.name = textOf(item['name']) ?? draft.name;
  };

  /** What was not streamed is taken from the finished item. */
  const takeDone = (draft: Draft, item: Fields): void => {
    if (draft.done !== undefined) return;
    describe(draft, item);
    draft.done = item;
    if (draft.type === 'message' && draft.chars === 0) say(draft, textIn(item));
    if (draft.type === 'reasoning' && draft.summaries === 0) pieces.add('reasoning', summaryIn(item));
    const whole = textOf(item['arguments']);
    if (draft.type === 'function_call' && whole !== undefined) draft.argumentPieces.splice(0, Infinity, whole);
  };

  const takeReasoning = (draft: Draft, event: Fields): void => {
    draft.summaries += 1;
    pieces.add('reasoning', textOf(event['delta']) ?? '');
  };

  const takeEnd = (response: Fields): void => {
    for (const [index, item] of (listOf(response['output']) ?? []).entries()) takeDone(draftAt(index), recordOf(item) ?? {});
    const counted = recordOf(response['usage']);
    if (counted !== undefined) usage = usageOf(counted);
    const cause = textOf(recordOf(response['incomplete_details'])?.['reason']);
    reason = response['status'] !== 'incomplete' ? 'stop' : cause === 'content_filter' ? 'content_filter' : 'length';
  };

  const takeResponse = (response: Fields): void => {
    begun = true;
    model = textOf(response['model']) || model;
    const error = response['error'];
    if (response['status'] === 'failed' || (error !== undefined && error !== null)) throw context.failure(error ?? { message: 'the answer failed' });
    if (response['status'] === 'completed' || response['status'] === 'incomplete') takeEnd(response);
  };

  const takeEvent = (type: string, event: Fields): void => {
    const draft = (): Draft => draftAt(countOf(event['output_index']) ?? 0);
    switch (type) {
      case 'response.output_item.added':
        return describe(draft(), recordOf(event['item']) ?? {});
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return say(draft(), textOf(event['delta']) ?? '');
      case 'response.reasoning_summary_part.added':
        return draft().summaries > 0 ? pieces.add('reasoning', '\n\n') : undefined;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return takeReasoning(draft(), event);
      case 'response.function_call_arguments.delta':
        return void draft().argumentPieces.push(textOf(event['delta']) ?? '');
      case 'response.output_item.done':
        return takeDone(draft(), recordOf(event['item']) ?? {});
      case 'error':
        throw context.failure(event);
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
      return reason !== undefined;
    },
    take(json) {
      const event = recordOf(json);
      if (event === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
      const response = recordOf(event['response']) ?? (event['object'] === 'response' ? event : undefined);
      if (response !== undefined) return takeResponse(response);
      if (event['error'] !== undefined && event['error'] !== null) throw context.failure(event['error']);
      const type = textOf(event['type']) ?? '';
      begun ||= type.startsWith('response.');
      takeEvent(type, event);
    },
    drain: pieces.drain,
    finish() {
      const written = [...drafts].toSorted(([a], [b]) => a - b).map(([, draft]) => draft);
      const toolCalls: ToolCall[] = [];
      const parts = written.flatMap((draft): readonly ReplayPart[] => {
        if (draft.type === 'reasoning') return [opaqueOf(draft)].filter((part) => part !== undefined);
        if (draft.type === 'message') return [{ type: 'text', chars: draft.chars, ...(draft.phase !== undefined && { phase: draft.phase }) }];
        if (draft.type !== 'function_call') return [];
        const { id } = addCall(toolCalls, { id: draft.callId, name: draft.name, arguments: draft.argumentPieces.join('') });
        return [{ type: 'call', id }];
      });
      const worth = parts.some((part) => part.type === 'opaque' || (part.type === 'text' && part.phase !== undefined));
      const replay = worth ? replayOf(context.maker, withoutTail(parts)) : undefined;
      return { type: 'finish', reason: settledReason(reason ?? 'stop', toolCalls.length > 0), toolCalls, usage, model, ...(replay !== undefined && { replay }) };
    },
  };
};
