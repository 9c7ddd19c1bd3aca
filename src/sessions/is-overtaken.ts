import { waitingItems } from '../store/messages/inbox.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Reading } from '../store/store.ts';
import type { BegunTurn } from './begin.ts';
import type { TurnPolicy } from './turn-policy.ts';

/** More than may wait in one conversation. */
const mostLookedAt = 200;

/** Whether a message of a person that came after `sinceId` is to end the turn. What waits for its turn anyway never does: notices, and what was put there by a command. */
export const isOvertaken = async (db: Reading, begun: BegunTurn, at: { sinceId: number; policy: TurnPolicy }): Promise<boolean> => {
  const session = await findSession(db, begun.session.id);
  if (session === undefined || at.policy.busyMode(session) !== 'interrupt') return false;
  const waiting = await waitingItems(db, begun.claim.lane, mostLookedAt);
  return waiting.some(({ id, event }) => id > at.sinceId && event.kind !== 'notice' && event.steers !== true && event.patient !== true);
};
