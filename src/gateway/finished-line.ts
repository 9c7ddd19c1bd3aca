import { traceIdOf } from '../core/trace-id.ts';
import type { FinishedTurn } from '../sessions/lanes.ts';

/** What the log says about a message at its end. No words of anybody are in it. */
export const finishedLine = ({ begun, result, ms }: FinishedTurn): Readonly<Record<string, unknown>> => {
  const { target } = begun.turn;
  return {
    inbox: begun.inboxIds,
    account: target.account,
    chat: target.chatId,
    thread: target.threadId,
    session: begun.session.id,
    turn: begun.turn.id,
    trace: traceIdOf({ sessionId: begun.session.id, turnId: begun.turn.id }),
    attempt: begun.turn.attempts,
    reason: result.reason,
    error: result.error ?? undefined,
    model: result.model ?? undefined,
    input_tokens: result.usage.inputTokens,
    output_tokens: result.usage.outputTokens,
    turn_ms: ms,
    answered: result.answer !== undefined,
  };
};
