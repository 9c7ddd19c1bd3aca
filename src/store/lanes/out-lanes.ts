import type { OutboxState } from '../schema/conversation-rows.ts';
import { inMs, startsWith } from '../store.ts';
import type { Reading } from '../store.ts';
import { outLane } from './lanes.ts';
import type { ReadyLane } from './lanes.ts';

/** Of `out:<account>:<chat>`; names of accounts have no colon. */
export const accountOfLane = (lane: string): string => lane.split(':', 2)[1] ?? '';

/** Chats of these accounts to which something could be delivered now, longest waiting first. */
export const readyOutLanes = async (db: Reading, accounts: readonly string[], limit: number): Promise<readonly ReadyLane[]> => {
  if (accounts.length === 0) return [];
  return db.q
    .selectFrom('lanes')
    .select(['lane', 'kind'])
    .where('has_work', '=', 1)
    .where('kind', '=', 'out')
    .where('ready_at', '<=', db.now)
    .where((eb) => eb.or([eb('owner', 'is', null), eb('lease_until', '<', db.now)]))
    .where((eb) => eb.or(accounts.map((account) => startsWith('lane', outLane(account, '')))))
    .orderBy('ready_at')
    .limit(limit)
    .execute();
};

const open: readonly OutboxState[] = ['pending', 'sending', 'unknown'];

/** Chats with a delivery that has waited longer than this, whoever has their account. */
export const overdueOutLanes = async (db: Reading, maxAgeMs: number, limit: number): Promise<readonly string[]> => {
  const rows = await db.q
    .selectFrom('outbox')
    .select('lane')
    .distinct()
    .where('state', 'in', open)
    .where('created_at', '<', inMs(db, -maxAgeMs))
    .limit(limit)
    .execute();
  return rows.map(({ lane }) => lane);
};
