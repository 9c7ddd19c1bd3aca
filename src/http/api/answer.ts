import { addUsage, noUsage } from '../../core/transcript.ts';
import type { ToolCall, Usage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { ApiError } from './api-error.ts';
import { turnError } from './turn-error.ts';

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** An answer as it ended. Plain JSON: it is kept to be given again. */
export interface TurnAnswer {
  readonly text: string;
  /** Calls of the client's tools. */
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage: Usage;
}

/** What happens while an answer is made. */
export type AnswerStep =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly type: 'tool'; readonly name: string; readonly callId: string; readonly status: 'running' | 'completed' | 'failed'; readonly label?: string };

const finishOf = (reason: string | undefined, calls: readonly ToolCall[]): FinishReason => {
  if (calls.length > 0) return 'tool_calls';
  return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
};

/** Follows a turn. The texts of its messages are one text, a blank line between them. The result is the answer, or why there is none. */
export async function* answerSteps(events: AsyncIterable<TurnEvent>, isTheirs: (name: string) => boolean): AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined> {
  let text = '';
  let usage = noUsage;
  let calls: readonly ToolCall[] = [];
  let reason: string | undefined;
  let between = false;
  for await (const event of events) {
    switch (event.type) {
      case 'text': {
        const delta = between && text !== '' ? `\n\n${event.delta}` : event.delta;
        between = false;
        text += delta;
        yield { type: 'text', delta };
        break;
      }
      case 'message':
        if (event.message.role !== 'assistant') break;
        between = true;
        reason = event.message.finishReason;
        calls = (event.message.toolCalls ?? []).filter(({ name }) => isTheirs(name));
        if (calls.length > 0) yield { type: 'calls', calls };
        break;
      case 'tool_started':
        yield { type: 'tool', name: event.name, callId: event.callId, status: 'running', label: event.preview };
        break;
      case 'tool_finished':
        yield { type: 'tool', name: event.name, callId: event.callId, status: event.ok ? 'completed' : 'failed' };
        break;
      case 'usage':
        usage = addUsage(usage, event.usage);
        break;
      case 'end': {
        const error = turnError(event);
        return error ?? { text, calls, finish: finishOf(reason, calls), usage };
      }
      case 'reasoning':
      case 'retrying':
        break;
      default:
        throw event satisfies never;
    }
  }
  throw new Error('a turn ended without saying so');
}

/** The same steps again, for an answer that was given before. */
export async function* replayedSteps(answer: TurnAnswer): AsyncGenerator<AnswerStep, TurnAnswer, undefined> {
  if (answer.text !== '') yield { type: 'text', delta: answer.text };
  if (answer.calls.length > 0) yield { type: 'calls', calls: answer.calls };
  return answer;
}

/** Only asked for by the type. */
const unheard = new ApiError(503, 'nobody listens');

/** Ends what nobody listens to any more; does nothing to an answer that has come to its end. */
export const endSteps = async (steps: AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>): Promise<void> => {
  await steps.return(unheard);
};

/** The answer itself; throws the refusal when there is none. */
export const finalAnswer = async (steps: AsyncGenerator<AnswerStep, TurnAnswer | ApiError, undefined>): Promise<TurnAnswer> => {
  for (;;) {
    const step = await steps.next();
    if (step.done !== true) continue;
    if (step.value instanceof ApiError) throw step.value;
    return step.value;
  }
};
