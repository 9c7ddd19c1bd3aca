import { ModelError } from '../../core/errors.ts';
import { noUsage } from '../../core/transcript.ts';
import type { Usage } from '../../core/transcript.ts';
import type { FinishReason, ModelEvent } from './contract.ts';
import { countOf, listOf, recordOf, textOf } from './json-fields.ts';
import { newThinkFilter } from './think-filter.ts';
import { newToolCallAssembly } from './tool-call-assembly.ts';

type Fields = Readonly<Record<string, unknown>>;
type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** Turns the decoded JSON of one chat completion, streamed in chunks or whole, into model events. */
export interface ChatAnswer {
  /** Throws a `ModelError` for an error object and for what is not a completion. */
  take(json: unknown): void;
  /** Text and reasoning since the last call, adjacent pieces joined. */
  drain(): readonly ModelEvent[];
  /** The server has said why it stopped. */
  readonly finished: boolean;
  /** Something that belongs to an answer has been read. */
  readonly begun: boolean;
  /** Call once, at the end, before the last `drain`. */
  finish(): Finish;
}

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

/** `inputTokens` counts all that was read, cached parts included; `outputTokens` all that was written, reasoning included. */
const usageOf = (usage: Fields): Usage => {
  const input = recordOf(usage['prompt_tokens_details']);
  const output = recordOf(usage['completion_tokens_details']);
  return {
    inputTokens: countOf(usage['prompt_tokens']) ?? 0,
    outputTokens: countOf(usage['completion_tokens']) ?? 0,
    cacheReadTokens: countOf(input?.['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0,
    cacheWriteTokens: countOf(input?.['cache_write_tokens']) ?? countOf(usage['cache_creation_input_tokens']) ?? 0,
    reasoningTokens: countOf(output?.['reasoning_tokens']) ?? countOf(usage['reasoning_tokens']) ?? 0,
  };
};

export const newChatAnswer = (options: { readonly model: string; readonly failure: (error: unknown) => ModelError }): ChatAnswer => {
  const think = newThinkFilter();
  const tools = newToolCallAssembly();
  let events: { type: 'text' | 'reasoning'; delta: string }[] = [];
  let reason: string | undefined;
  let begun = false;
  let usage = noUsage;
  let { model } = options;

  const emit = (type: 'text' | 'reasoning', delta: string): void => {
    const last = events.at(-1);
    if (last?.type === type) last.delta += delta;
    else events.push({ type, delta });
  };

  const takeChoice = (choice: Fields): void => {
    begun = true;
    const message = recordOf(choice['message']);
    const delta = recordOf(choice['delta']) ?? message;
    if (delta !== undefined) {
      const reasoning = textOf(delta['reasoning_content']) || textOf(delta['reasoning']) || '';
      if (reasoning !== '') emit('reasoning', reasoning);
      const content = contentOf(delta['content']) || contentOf(delta['refusal']);
      if (content !== '') think.push(content, emit);
      if (delta['tool_calls'] !== undefined) tools.take(delta['tool_calls'], delta === message);
    }
    const stopped = textOf(choice['finish_reason']);
    if (stopped === undefined || stopped === '') return;
    if (failures.has(stopped)) throw options.failure(choice['error'] ?? { type: 'server_error', message: `the answer ended with '${stopped}'` });
    reason = stopped;
  };

  return {
    get finished() {
      return reason !== undefined;
    },
    get begun() {
      return begun;
    },
    take(json) {
      const chunk = recordOf(json);
      if (chunk === undefined) throw new ModelError('malformed', 'the model sent something that is not a JSON object');
      if (chunk['error'] !== undefined && chunk['error'] !== null) throw options.failure(chunk['error']);
      const named = textOf(chunk['model']);
      if (named !== undefined && named !== '') model = named;
      const choice = recordOf(listOf(chunk['choices'])?.[0]);
      if (choice !== undefined) takeChoice(choice);
      const counted = recordOf(chunk['usage']) ?? recordOf(choice?.['usage']);
      if (counted !== undefined) usage = usageOf(counted);
    },
    drain() {
      if (events.length === 0) return events;
      const drained = events;
      events = [];
      return drained;
    },
    finish() {
      think.end(emit);
      const toolCalls = tools.calls();
      const said = finishReasons[reason ?? 'stop'] ?? 'stop';
      // Some servers say `stop` after tool calls, or `tool_calls` without any.
      const finished = said === 'stop' || said === 'tool_calls' ? (toolCalls.length > 0 ? 'tool_calls' : 'stop') : said;
      return { type: 'finish', reason: finished, toolCalls, usage, model };
    },
  };
};
