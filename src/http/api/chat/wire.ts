import type { ToolCall, Usage } from '../../../core/transcript.ts';
import { ApiError } from '../api-error.ts';
import type { Frame } from '../event-stream.ts';
import { endSteps } from '../answer.ts';
import type { TurnAnswer, AnswerStep } from '../answer.ts';

/** What every part of one answer says about itself. */
export interface ChatHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

type Json = Readonly<Record<string, unknown>>;

const wireUsage = (usage: Usage): Json => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
});

const wireCall = (call: ToolCall): Json => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } });

export const completion = (head: ChatHead, answer: TurnAnswer): Json => ({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: answer.text === '' && answer.calls.length > 0 ? null : answer.text, refusal: null, ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(wireCall) }) },
      logprobs: null,
      finish_reason: answer.finish,
    },
  ],
  usage: wireUsage(answer.usage),
});

const progress = (step: Extract<AnswerStep, { type: 'tool' }>): Frame => ({
  event: 'hermes.tool.progress',
  data: { tool: step.name, toolCallId: step.callId, status: step.status, ...(step.label !== undefined && { label: step.label }) },
});

export interface StreamWishes {
  readonly usage: boolean;
  readonly progress: boolean;
}

/** The frames of a streamed answer. A failure is a frame of its own without `[DONE]` behind it: what was said is not the whole answer. */
export async function* chunks(head: ChatHead, steps: AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>, wishes: StreamWishes): AsyncGenerator<Frame, void, undefined> {
  const chunk = (delta: Json, finish: string | null = null): Frame => ({
    data: { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(wishes.usage && { usage: null }) },
  });
  try {
    yield chunk({ role: 'assistant', content: '', refusal: null });
    for (;;) {
      const { value: step, done } = await steps.next();
      if (done === true) {
        if (step instanceof ApiError) yield { data: { error: step.body } };
        else {
          yield chunk({}, step.finish);
          if (wishes.usage) yield { data: { ...head, object: 'chat.completion.chunk', choices: [], usage: wireUsage(step.usage) } };
          yield { data: '[DONE]' };
        }
        return;
      }
      switch (step.type) {
        case 'text':
          yield chunk({ content: step.delta });
          break;
        case 'calls':
          yield chunk({ tool_calls: step.calls.map((call, index) => ({ index, ...wireCall(call) })) });
          break;
        case 'tool':
          if (wishes.progress) yield progress(step);
          break;
        default:
          throw step satisfies never;
      }
    }
  } finally {
    await endSteps(steps);
  }
}
