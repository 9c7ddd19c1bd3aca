import { requestStop } from '../store/lanes/lanes.ts';
import { requestTurnStop } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';

/** Ends the turn of a lane wherever it runs, also one that an ended process has left behind. */
export const stopTurn = async (tx: Writing, lane: string): Promise<void> => {
  await requestTurnStop(tx, lane);
  await requestStop(tx, lane);
};
