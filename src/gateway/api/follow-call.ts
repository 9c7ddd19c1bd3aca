import type { TranscriptMessage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { isSilentReply } from '../../delivery/silence.ts';
import type { Clock } from '../../lib/clock.ts';
import { apiCall } from '../../store/api-calls.ts';
import type { ApiCallResult } from '../../store/api-calls.ts';
import type { Store } from '../../store/store.ts';
import type { CallFeed } from './call-hub.ts';

/** How often the store is asked, for a turn that runs in another process tells nothing here. */
const lookMs = 1000;

const saidBy = (message: TranscriptMessage): readonly TurnEvent[] => [...(message.content === '' || isSilentReply(message.content) ? [] : [{ type: 'text', delta: message.content } as const]), { type: 'message', message }];

const endOf = ({ reason, error, errorCode }: ApiCallResult): TurnEvent => ({ type: 'end', reason, ...(error !== null && { error: { code: errorCode ?? 'internal', sentence: error } }) });

/** What happened in a turn, from how it ended. */
export const eventsOfResult = (result: ApiCallResult): readonly TurnEvent[] => [...result.rows.flatMap(saidBy), { type: 'usage', usage: result.usage, model: '' }, endOf(result)];

const nextLook = async (feed: CallFeed, clock: Clock): Promise<void> => {
  const done = new AbortController();
  const look = clock.sleep(lookMs, done.signal).then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([feed.arrived, look]);
  done.abort();
};

/** The events of a call's turn as they happen, or as they are stored when it runs elsewhere. Ends with exactly one `end`. */
export async function* followCall(deps: { readonly store: Store; readonly clock: Clock }, call: { readonly id: string; readonly mayHaveEnded: boolean }, feed: CallFeed): AsyncGenerator<TurnEvent, void, undefined> {
  let heard = false;
  let look = call.mayHaveEnded;
  try {
    for (;;) {
      if (!look) await nextLook(feed, deps.clock);
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
      // Its end may have come here meanwhile.
      const late = feed.take();
      yield* late.length > 0 ? late : heard ? [endOf(stored.result)] : eventsOfResult(stored.result);
      return;
    }
  } finally {
    feed[Symbol.dispose]();
  }
}
