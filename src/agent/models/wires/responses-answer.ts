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
  /** Pieces of reasoning that were streamed. */
  thoughts: number;
}

/** An answer, while it is being read. */
interface Reading {
  readonly context: AnswerContext;
  readonly pieces: PieceQueue;
  /** By their place in the output. */
  readonly drafts: Map<number, Draft>;
  begun: boolean;
  reason: FinishReason | undefined;
  usage: Usage;
  model: string;
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

const draftAt = ({ drafts }: Reading, index: number): Draft => {
  const draft = drafts.get(index) ?? { type: '', chars: 0, phase: undefined, callId: '', name: '', argumentPieces: [], done: undefined, thoughts: 0 };
  drafts.set(index, draft);
  return draft;
};

const say = ({ pieces }: Reading, draft: Draft, text: string): void => {
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
const takeDone = (reading: Reading, draft: Draft, item: Fields): void => {
  if (draft.done !== undefined) return;
  describe(draft, item);
  draft.done = item;
  if (draft.type === 'message' && draft.chars === 0) say(reading, draft, textIn(item));
  if (draft.type === 'reasoning' && draft.thoughts === 0) reading.pieces.add('reasoning', summaryIn(item));
  const whole = textOf(item['arguments']);
  if (draft.type === 'function_call' && whole !== undefined) draft.argumentPieces.splice(0, Infinity, whole);
};

const takeEnd = (reading: Reading, response: Fields): void => {
  for (const [index, item] of (listOf(response['output']) ?? []).entries()) takeDone(reading, draftAt(reading, index), recordOf(item) ?? {});
  const counted = recordOf(response['usage']);
  if (counted !== undefined) reading.usage = usageOf(counted);
  const cause = textOf(recordOf(response['incomplete_details'])?.['reason']);
  reading.reason = response['status'] !== 'incomplete' ? 'stop' : cause === 'content_filter' ? 'content_filter' : 'length';
};

const takeResponse = (reading: Reading, response: Fields): void => {
  reading.begun = true;
  reading.model = textOf(response['model']) || reading.model;
  const { status, error } = response;
  if (status === 'failed' || (error !== undefined && error !== null)) throw reading.context.failure(error ?? { message: 'the answer failed' });
  if (status === 'completed' || status === 'incomplete') takeEnd(reading, response);
};

const takeEvent = (reading: Reading, type: string, event: Fields): void => {
  const draft = (): Draft => draftAt(reading, countOf(event['output_index']) ?? 0);
  const delta = textOf(event['delta']) ?? '';
  switch (type) {
    case 'response.output_item.added':
      return describe(draft(), recordOf(event['item']) ?? {});
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return say(reading, draft(), delta);
    case 'response.reasoning_summary_part.added':
      return draft().thoughts > 0 ? reading.pieces.add('reasoning', '\n\n') : undefined;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      draft().thoughts += 1;
      return reading.pieces.add('reasoning', delta);
    case 'response.function_call_arguments.delta':
      return void draft().argumentPieces.push(delta);
    case 'response.output_item.done':
      return takeDone(reading, draft(), recordOf(event['item']) ?? {});
    case 'error':
      throw reading.context.failure(event);
    default:
      return undefined;
  }
};

const take = (reading: Reading, json: unknown): void => {
  const event = recordOf(json);
  if (event === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
  const response = recordOf(event['response']) ?? (event['object'] === 'response' ? event : undefined);
  if (response !== undefined) return takeResponse(reading, response);
  if (event['error'] !== undefined && event['error'] !== null) throw reading.context.failure(event['error']);
  const type = textOf(event['type']) ?? '';
  reading.begun ||= type.startsWith('response.');
  return takeEvent(reading, type, event);
};

/** Without encrypted content an item can only be found by the endpoint that stored it, and nothing is stored. */
const opaqueOf = ({ done }: Draft): readonly ReplayPart[] => {
  if (done === undefined || typeof done['encrypted_content'] !== 'string') return [];
  return [{ type: 'opaque', json: { type: 'reasoning', id: done['id'], summary: done['summary'] ?? [], encrypted_content: done['encrypted_content'] } }];
};

/** The pieces of the message in their order; calls are added to `calls`. */
const partsOf = (draft: Draft, calls: ToolCall[]): readonly ReplayPart[] => {
  if (draft.type === 'reasoning') return opaqueOf(draft);
  if (draft.type === 'message') return [{ type: 'text', chars: draft.chars, ...(draft.phase !== undefined && { phase: draft.phase }) }];
  if (draft.type !== 'function_call') return [];
  const { id } = addCall(calls, { id: draft.callId, name: draft.name, arguments: draft.argumentPieces.join('') });
  return [{ type: 'call', id }];
};

/** Reasoning that nothing follows is refused when it is sent back. */
const withoutTail = (parts: readonly ReplayPart[]): readonly ReplayPart[] => parts.slice(0, parts.findLastIndex((part) => part.type !== 'opaque') + 1);

const isWorthKeeping = (part: ReplayPart): boolean => part.type === 'opaque' || (part.type === 'text' && part.phase !== undefined);

const finish = ({ context, drafts, reason, usage, model }: Reading): Finish => {
  const toolCalls: ToolCall[] = [];
  const parts = withoutTail([...drafts].toSorted(([a], [b]) => a - b).flatMap(([, draft]) => partsOf(draft, toolCalls)));
  const replay = parts.some(isWorthKeeping) ? replayOf(context.maker, parts) : undefined;
  return { type: 'finish', reason: settledReason(reason ?? 'stop', toolCalls.length > 0), toolCalls, usage, model, ...(replay !== undefined && { replay }) };
};

/** An answer of OpenAI's Responses. */
export const newResponsesAnswer = (context: AnswerContext): Answer => {
  const reading: Reading = { context, pieces: newPieceQueue(), drafts: new Map(), begun: false, reason: undefined, usage: noUsage, model: context.model };
  return {
    get begun() {
      return reading.begun;
    },
    get finished() {
      return reading.reason !== undefined;
    },
    get complete() {
      return reading.reason !== undefined;
    },
    take: (json) => take(reading, json),
    drain: reading.pieces.drain,
    finish: () => finish(reading),
  };
};
