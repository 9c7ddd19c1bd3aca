import { ModelError } from '../../../core/errors.ts';
import { noUsage } from '../../../core/transcript.ts';
import type { Replay, Usage } from '../../../core/transcript.ts';
import type { FinishReason } from '../contract.ts';
import { newPieceQueue, settledReason } from './answer.ts';
import type { Answer } from './answer.ts';
import type { ChatReplay } from './chat-request.ts';
import { amountOf, countOf, listOf, recordOf, textOf } from './json-fields.ts';
import { newReasoningDetails } from './reasoning-details.ts';
import { newThinkFilter } from './think-filter.ts';
import { newToolCallAssembly } from './tool-call-assembly.ts';
import { replayOf } from './wire.ts';
import type { AnswerContext } from './wire.ts';

type Fields = Readonly<Record<string, unknown>>;

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  content_filter: 'content_filter',
};

/** Reasons that are failures of the server in the middle of an answer. */
const failures: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource', 'abort']);

const contentOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const parts = listOf(value) ?? [];
  return parts.map((part) => textOf(recordOf(part)?.['text']) ?? '').join('');
};

const usageOf = (usage: Fields): Usage => {
  const input = recordOf(usage['prompt_tokens_details']);
  const output = recordOf(usage['completion_tokens_details']);
  const usd = amountOf(usage['cost']);
  return {
    inputTokens: countOf(usage['prompt_tokens']) ?? 0,
    outputTokens: countOf(usage['completion_tokens']) ?? 0,
    cacheReadTokens: countOf(input?.['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0,
    cacheWriteTokens: countOf(input?.['cache_write_tokens']) ?? countOf(usage['cache_creation_input_tokens']) ?? 0,
    reasoningTokens: countOf(output?.['reasoning_tokens']) ?? countOf(usage['reasoning_tokens']) ?? 0,
    ...(usd !== undefined && { cost: { usd, status: 'actual' } }),
  };
};

/** An answer of an endpoint that speaks chat completions. */
export const newChatAnswer = (context: AnswerContext): Answer => {
  const think = newThinkFilter();
  const tools = newToolCallAssembly();
  const details = newReasoningDetails();
  const pieces = newPieceQueue();
  let reason: string | undefined;
  let begun = false;
  let usage = noUsage;
  let namedReasoning = false;
  let { model } = context;

  const takeDelta = (delta: Fields, whole: boolean): void => {
    const named = textOf(delta['reasoning_content']) ?? '';
    namedReasoning ||= named !== '';
    pieces.add('reasoning', named || textOf(delta['reasoning']) || '');
    details.take(delta['reasoning_details']);
    const content = contentOf(delta['content']) || contentOf(delta['refusal']);
    if (content !== '') think.push(content, pieces.add);
    if (delta['tool_calls'] !== undefined) tools.take(delta['tool_calls'], whole);
  };

  const takeChoice = (choice: Fields): void => {
    begun = true;
    const message = recordOf(choice['message']);
    const delta = recordOf(choice['delta']) ?? message;
    if (delta !== undefined) takeDelta(delta, delta === message);
    const stopped = textOf(choice['finish_reason']);
    if (stopped === undefined || stopped === '') return;
    if (failures.has(stopped)) throw context.failure(choice['error'] ?? { type: 'server_error', message: `the answer ended with '${stopped}'` });
    reason = stopped;
  };

  const replay = (): Replay | undefined => {
    const listed = details.all();
    const extras = tools.extras();
    const data: ChatReplay = { ...(namedReasoning && { reasoning: true }), ...(listed !== undefined && { details: listed }), ...(extras !== undefined && { extras }) };
    return Object.keys(data).length === 0 ? undefined : replayOf(context.maker, data);
  };

  return {
    get finished() {
      return reason !== undefined;
    },
    get begun() {
      return begun;
    },
    complete: false,
    take(json) {
      const chunk = recordOf(json);
      if (chunk === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
      if (chunk['error'] !== undefined && chunk['error'] !== null) throw context.failure(chunk['error']);
      const named = textOf(chunk['model']);
      if (named !== undefined && named !== '') model = named;
      const choice = recordOf(listOf(chunk['choices'])?.[0]);
      if (choice !== undefined) takeChoice(choice);
      const counted = recordOf(chunk['usage']) ?? recordOf(choice?.['usage']);
      if (counted !== undefined) usage = usageOf(counted);
    },
    drain: pieces.drain,
    finish() {
      think.end(pieces.add);
      const toolCalls = tools.calls();
      // Only with tool calls is anything wanted back.
      const kept = toolCalls.length > 0 ? replay() : undefined;
      return { type: 'finish', reason: settledReason(finishReasons[reason ?? 'stop'] ?? 'stop', toolCalls.length > 0), toolCalls, usage, model, ...(kept !== undefined && { replay: kept }) };
    },
  };
};
