import { ModelError } from '../core/errors.ts';
import type { TurnEvent } from '../core/turn.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from './models/contract.ts';
import type { TurnWatch } from './turn-watch.ts';

export type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** What the assistant message that is being written says so far. It outlives a call that fails. */
export interface Draft {
  text: string;
  reasoning: string;
}

export interface CallContext {
  readonly provider: ModelProvider;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: TurnWatch;
  readonly maxRetries: number;
  readonly random: () => number;
}

const backoff = { baseMs: 2000, capMs: 60_000 } as const;
/** A server that wants more patience than this is not waited for. */
const maxRetryAfterMs = 600_000;
/** Whatever the provider allows: an answer must fit into memory and into a transcript. */
const maxDraftChars = 4_000_000;

/** Undefined when the failure is final. */
const retryDelayMs = (context: CallContext, error: ModelError, attempt: number): number | undefined => {
  if (!error.rule.retry || attempt > context.maxRetries) return undefined;
  if (error.retryAfterMs === undefined) return backoffMs(attempt, { ...backoff, random: context.random });
  return error.retryAfterMs > maxRetryAfterMs ? undefined : error.retryAfterMs;
};

/** Lets go of a stream without waiting: it may be one that never comes back. */
const abandon = (events: AsyncIterator<ModelEvent>, log: Logger): void => {
  events.return?.().then(undefined, (error: unknown) => log.debug({ err: error }, 'model.abandoned'));
};

async function* attemptCall(context: CallContext, request: ModelRequest, draft: Draft): AsyncGenerator<TurnEvent, Finish, undefined> {
  const { watch } = context;
  const events = context.provider.stream(request, watch.signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await watch.guard(events.next());
      watch.alive();
      if (next.done) throw new ModelError('malformed', 'the answer ended without a reason');
      const event = next.value;
      if (event.type === 'finish') return event;
      draft[event.type] += event.delta;
      if (draft.text.length + draft.reasoning.length > maxDraftChars) throw new ModelError('malformed', 'the answer does not end');
      yield event;
    }
  } finally {
    abandon(events, context.log);
  }
}

/**
 * One call of the model, repeated after failures that may pass as long as none of its text has been shown. Reasoning that was shown
 * before a `retrying` event is void.
 */
export async function* callModel(context: CallContext, request: ModelRequest, draft: Draft): AsyncGenerator<TurnEvent, Finish, undefined> {
  const { watch, log, clock } = context;
  const shownChars = draft.text.length;
  const { reasoning } = draft;
  for (let attempt = 1; ; attempt += 1) {
    watch.check();
    try {
      return yield* attemptCall(context, request, draft);
    } catch (error) {
      if (!(error instanceof ModelError) || draft.text.length > shownChars) throw error;
      const delayMs = retryDelayMs(context, error, attempt);
      if (delayMs === undefined) throw error;
      log.warn({ code: error.code, status: error.status, attempt, delayMs, reason: error.message }, 'model.retrying');
      draft.reasoning = reasoning;
      yield { type: 'retrying', attempt, delayMs, reason: error.code };
      watch.alive(delayMs);
      await watch.guard(clock.sleep(delayMs, watch.signal));
    }
  }
}
