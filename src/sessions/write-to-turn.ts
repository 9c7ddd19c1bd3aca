import type { TranscriptMessage } from '../core/transcript.ts';
import { holdLane } from '../store/lanes/lanes.ts';
import type { Claim } from '../store/lanes/lanes.ts';
import { persist } from '../store/persist.ts';
import type { Persistence } from '../store/persist.ts';
import { appendMessage, isRowOfTurn } from '../store/sessions/transcripts.ts';
import type { RunningTurn } from '../store/sessions/turns.ts';
import type { Store, Writing } from '../store/store.ts';
import { turnLeaseMs } from './commit.ts';

interface HeldTurn {
  readonly claim: Claim;
  readonly turn: RunningTurn;
}

/** What the writes of a turn go through while it runs. */
export interface TurnWrites extends Persistence {
  readonly store: Store;
}

/**
 * Writes something of a turn that runs, under its claim. What is known already, like the result of a tool, is not forgotten because the store is in
 * trouble for a moment. `write` answers the number of a row that it added to the transcript: a repeat of what went through although its
 * confirmation was lost finds that row and changes nothing.
 */
export const writeToTurn = (writes: TurnWrites, { claim, turn }: HeldTurn, write: (tx: Writing) => Promise<number>): Promise<void> => {
  let row: number | undefined;
  const once = async (tx: Writing): Promise<void> => {
    await holdLane(tx, claim, turnLeaseMs);
    if (row !== undefined && (await isRowOfTurn(tx, row, turn.id))) return;
    row = await write(tx);
  };
  return persist(() => writes.store.write(once), writes);
};

/** Stores rows while the turn runs: an assistant message with its tool calls before they run, each result right after. */
export const appendToTurn = (writes: TurnWrites, held: HeldTurn, messages: readonly TranscriptMessage[]): Promise<void> =>
  writeToTurn(writes, held, async (tx) => {
    let row = 0;
    for (const message of messages) row = await appendMessage(tx, { sessionId: held.turn.sessionId, turnId: held.turn.id }, message);
    return row;
  });
