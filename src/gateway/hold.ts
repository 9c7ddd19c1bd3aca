import { newestWaiting } from '../store/inbox.ts';
import { enqueueLane } from '../store/lanes.ts';
import type { Writing } from '../store/store.ts';

/** Parts of an album or a split text follow within this time of each other. */
export const holdMs = { album: 600, split: 1000 } as const;

/** Long enough to connect and to fetch what came while no gateway ran. */
const afterStartMs = 3_000;

/** The process ended while it waited for the rest of a message: the rest gets time to arrive before what is there is answered. */
export const holdAgain = async (tx: Writing): Promise<void> => {
  for (const { lane, event } of await newestWaiting(tx, 1000)) if (event.batch !== undefined) await enqueueLane(tx, { lane, kind: 'turn', delayMs: afterStartMs });
};
