import { ModelError } from '../core/errors.ts';
import type { TranscriptMessage, Usage } from '../core/transcript.ts';
import { newPromptMeter } from './context.ts';
import type { TurnRoom } from './contract.ts';
import type { TurnWatch } from './turn-watch.ts';

/** Keeps the requests of one turn within what its model can read, by putting a shorter transcript in place of the one it has. */
export interface RoomKeeper {
  /** Before each request. */
  prepare(): Promise<void>;
  /** Right after each answer, before anything is added to the transcript. */
  answered(usage: Usage): void;
  /** Whether a request that failed so can be made again, shorter. */
  shortenedAfter(error: unknown): Promise<boolean>;
}

/** A sign of life is not to be expected before a summary has been written. */
const longestMs = 600_000;

/** `rows` is the turn's transcript, which is changed in place. Without a `room` nothing is ever shortened. */
export const newRoomKeeper = (rows: TranscriptMessage[], room: TurnRoom | undefined, watch: TurnWatch): RoomKeeper => {
  const meter = newPromptMeter(room?.tokens ?? 0, rows);
  let limitTokens = room?.limitTokens ?? Infinity;

  const shorten = async (refusal: ModelError | undefined): Promise<boolean> => {
    if (room === undefined) return false;
    const request = { tokens: meter.tokens(rows), refused: refusal !== undefined, windowTokens: refusal?.facts.windowTokens };
    watch.alive(longestMs);
    const shorter = await watch.guard(room.shorten(request, watch.signal));
    watch.alive();
    // Nothing can be gained now: it is sent as it is from here on, and the model judges.
    if (shorter === undefined) limitTokens = Infinity;
    else {
      rows.splice(0, rows.length, ...shorter.transcript);
      meter.restart(shorter.tokens, rows);
    }
    return shorter !== undefined;
  };

  return {
    async prepare() {
      if (meter.tokens(rows) > limitTokens) await shorten(undefined);
    },
    answered: (usage) => meter.answered(usage, rows),
    shortenedAfter: async (error) => error instanceof ModelError && error.rule.compress && shorten(error),
  };
};
