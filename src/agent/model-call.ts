import { ModelError } from '../core/errors.ts';
import type { Replay, TranscriptMessage } from '../core/transcript.ts';
import type { TurnEvent } from '../core/turn.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { ModelCall } from './contract.ts';
import type { Finish, ModelEvent, ModelRequest } from './models/contract.ts';
import { afterStep, firstTry, recover } from './models/endpoints/recovery.ts';
import type { Recovery, Tried } from './models/endpoints/recovery.ts';
import { routeLabel } from './models/endpoints/route-cursor.ts';
import type { RouteCursor } from './models/endpoints/route-cursor.ts';
import type { TurnWatch } from './turn-watch.ts';

export type { Finish } from './models/contract.ts';

/** What the assistant message that is being written says so far. It outlives a call that fails. */
export interface Draft {
  text: string;
  reasoning: string;
  /** What its maker wants back with it; only of a message that one call wrote from its beginning to its end. */
  replay: Replay | undefined;
}

export interface CallContext {
  readonly routes: RouteCursor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: TurnWatch;
  readonly maxRetries: number;
  readonly random: () => number;
  readonly onCall?: ((call: ModelCall) => void) | undefined;
}

/** Whatever the provider allows: an answer must fit into memory and into a transcript. */
const maxDraftChars = 4_000_000;

/** Lets go of a stream without waiting: it may be one that never comes back. */
const abandon = (events: AsyncIterator<ModelEvent>, log: Logger): void => {
  events.return?.().then(undefined, (error: unknown) => log.debug({ err: error }, 'model.abandoned'));
};

const withoutReplay = ({ replay: _, ...row }: TranscriptMessage): TranscriptMessage => row;

const requestFor = ({ routes }: CallContext, request: ModelRequest): ModelRequest => ({
  ...request,
  model: routes.current.model,
  ...(routes.withoutReasoning && { messages: request.messages.map(withoutReplay) }),
});

async function* attemptCall(context: CallContext, request: ModelRequest, draft: Draft): AsyncGenerator<TurnEvent, Finish, undefined> {
  const { watch, routes } = context;
  const events = routes.current.provider.stream(requestFor(context, request), watch.signal)[Symbol.asyncIterator]();
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

/** Does what the recovery asks for, as far as it concerns who is asked; answers who is asked instead. */
const redirect = (routes: RouteCursor, { step }: Recovery): string | undefined => {
  if (step === 'without_reasoning') routes.withoutReasoning = true;
  const next = step === 'fall_back' ? routes.next() : undefined;
  return next === undefined ? undefined : routeLabel(next);
};

/**
 * One call of the model, repeated, with another key or by somebody else after failures that this may help, as long as none of its text
 * has been shown. Reasoning that was shown before a `retrying` event is void. A failure that a shorter conversation would help
 * (`error.rule.compress`) is thrown at once.
 */
export async function* callModel(context: CallContext, request: ModelRequest, draft: Draft): AsyncGenerator<TurnEvent, Finish, undefined> {
  const { watch, log, clock, routes, maxRetries, random } = context;
  const shownChars = draft.text.length;
  const { reasoning } = draft;
  let tried: Tried = firstTry;
  for (;;) {
    watch.check();
    const startedMs = clock.now();
    const { model } = routes.current;
    const tell = (outcome: Pick<ModelCall, 'usage' | 'code'>): void => context.onCall?.({ model, durationMs: clock.now() - startedMs, ...outcome });
    try {
      const finish = yield* attemptCall(context, request, draft);
      draft.replay = shownChars === 0 ? finish.replay : undefined;
      tell({ usage: finish.usage });
      return finish;
    } catch (error) {
      tell({ code: error instanceof ModelError ? error.code : 'aborted' });
      if (!(error instanceof ModelError) || draft.text.length > shownChars) throw error;
      const recovery = recover(error, tried, { maxRetries, random, hasFallback: routes.hasNext });
      if (recovery.step === 'give_up') throw error;
      const delayMs = recovery.step === 'repeat' ? recovery.delayMs : 0;
      const failed = routeLabel(routes.current);
      const instead = redirect(routes, recovery);
      log.warn({ code: error.code, status: error.status, attempt: tried.attempts, step: recovery.step, delayMs, route: failed, reason: error.message }, 'model.retrying');
      draft.reasoning = reasoning;
      yield { type: 'retrying', attempt: tried.attempts, delayMs, reason: error.code, ...(instead !== undefined && { instead }) };
      tried = afterStep(tried, recovery);
      watch.alive(delayMs);
      if (delayMs > 0) await watch.guard(clock.sleep(delayMs, watch.signal));
    }
  }
}
