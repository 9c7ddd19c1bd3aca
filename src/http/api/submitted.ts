import type { TurnEvent } from '../../core/turn.ts';
import type { ApiGate } from '../../gateway/api/api-gate.ts';
import type { CallRefusal, Submitted } from '../../gateway/api/submit-call.ts';
import type { Logger } from '../../lib/logger.ts';
import { ApiError } from './api-error.ts';

const refusals: Readonly<Record<Extract<CallRefusal, string>, () => ApiError>> = {
  no_session: () => new ApiError(404, 'There is no such session.', { code: 'session_not_found' }),
  no_call: () => new ApiError(404, 'There is no such response.', { code: 'previous_response_not_found', param: 'previous_response_id' }),
  call_running: () => new ApiError(409, 'That response is still being worked on.', { code: 'previous_response_in_progress', param: 'previous_response_id' }),
  queue_full: () => new ApiError(429, 'Too many calls of this conversation are waiting.', { code: 'rate_limit_exceeded', retryAfterMs: 5_000 }),
};

/** The conversation of a call that was taken; throws the refusal for one that was not. */
export const sessionOf = (submitted: Submitted): string => {
  if (submitted.type === 'submitted') return submitted.sessionId;
  const { why } = submitted;
  if (typeof why === 'string') throw refusals[why]();
  throw new ApiError(400, `No call of this conversation has the id '${why.unknownResult.slice(0, 100)}'.`, { code: 'invalid_value', param: 'input' });
};

/** The events of a call; when the signal comes, its turn is cancelled and its events end with that. */
export async function* cancelledBy(events: AsyncIterable<TurnEvent>, call: { readonly id: string; readonly gate: ApiGate; readonly log: Logger; readonly signal: AbortSignal }): AsyncGenerator<TurnEvent, void, undefined> {
  const { id, gate, log, signal } = call;
  const cancel = (): void => {
    gate.cancel(id).catch((error: unknown) => log.error({ err: error, call: id }, 'api.not_cancelled'));
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    yield* events;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
