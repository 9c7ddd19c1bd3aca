import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { isSilentReply } from '../../delivery/silence.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { apiCall } from '../../store/api/api-calls.ts';
import type { ApiCallResult } from '../../store/api/api-calls.ts';
import type { Store } from '../../store/store.ts';
import type { CallFeed } from './call-hub.ts';

/** How often the store is asked, for a turn that runs in another process tells nothing here. */
const lookMs = 1000;

const saidBy = (message: TranscriptMessage): readonly TurnEvent[] => [...(message.content === '' || isSilentReply(message.content) ? [] : [{ type: 'text', delta: message.content } as const]), { type: 'message', message }];

const endOf = ({ reason, error, errorCode }: ApiCallResult): TurnEvent => ({ type: 'end', reason, ...(error !== null && { error: { code: errorCode ?? 'internal', sentence: error } }) });

/** What happened in a turn, from how it ended. */
export const eventsOfResult = (result: ApiCallResult): readonly TurnEvent[] => [...result.rows.flatMap(saidBy), { type: 'usage', usage: result.usage, model: '' }, endOf(result)];

const nextLook = async (feed: CallFeed, clock: Clock, signal: AbortSignal): Promise<void> => {
  const done = new AbortController();
  await Promise.race([feed.arrived, slept(clock, lookMs, AbortSignal.any([done.signal, signal]))]);
  done.abort();
};

export interface FollowedCall {
  readonly id: string;
  readonly mayHaveEnded: boolean;
  /** Nobody listens any more; left out where somebody does to its end. */
  readonly signal?: AbortSignal | undefined;
}

/** The events of a call's turn as they happen, or as they are stored when it runs elsewhere. Ends with exactly one `end`, unless the signal comes first. */
export async function* followCall(deps: { readonly store: Store; readonly clock: Clock }, call: FollowedCall, feed: CallFeed): AsyncGenerator<TurnEvent, void, undefined> {
  const signal = call.signal ?? new AbortController().signal;
  let heard = false;
  let look = call.mayHaveEnded;
  try {
    while (!signal.aborted) {
      if (!look) await nextLook(feed, deps.clock, signal);
      look = false;
      const events = feed.take();
      for (const event of events) {
        heard = true;
        yield event;
        if (event.type === 'end') return;
      }
      if (events.length > 0) continue;
      const stored = await deps.store.read((db) => apiCall(db, call.id));
      if (stored?.result === undefined) continue;
      // What it said last, and perhaps its end, may have come here meanwhile.
      const late = feed.take();
      if (!heard && late.length === 0) return yield* eventsOfResult(stored.result);
      yield* late;
      if (late.at(-1)?.type !== 'end') yield endOf(stored.result);
      return;
    }
  } finally {
    feed[Symbol.dispose]();
  }
}
