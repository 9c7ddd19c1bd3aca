import type { InboundEvent } from '../core/message.ts';
import { enqueueLane } from '../store/lanes/lanes.ts';
import { longestWaitMs, newestWaiting } from '../store/messages/inbox.ts';
import type { Writing } from '../store/store.ts';

/** Parts of an album or a split text follow within this time of each other. */
const usualMs = { album: 600, split: 1000 } as const;

/** How long an event waits for what belongs to it; zero for one that is whole. */
export const holdMs = async (tx: Writing, lane: string, { batch }: InboundEvent): Promise<number> => {
  if (batch === undefined) return 0;
  if (batch.kind !== 'calls') return usualMs[batch.kind];
  return Math.max(0, Math.min(batch.hold.ms, batch.hold.mostMs - (await longestWaitMs(tx, lane))));
};

/** Long enough to connect and to fetch what came while no gateway ran. */
const afterStartMs = 3_000;

/** The process ended while it waited for the rest of a message: the rest gets time to arrive before what is there is answered. Calls have a time of their own, which is kept. */
export const holdAgain = async (tx: Writing): Promise<void> => {
  for (const { lane, event } of await newestWaiting(tx, 1000)) if (event.batch !== undefined && event.batch.kind !== 'calls') await enqueueLane(tx, { lane, kind: 'turn', delayMs: afterStartMs });
};
