import type { OutboxState } from '../schema/conversation-rows.ts';
import type { Reading } from '../store.ts';

/** How far a delivery is. */
export interface DeliveryState {
  readonly key: string;
  readonly state: OutboxState;
  /** What the platform calls the messages that are there. */
  readonly messageIds: readonly string[];
  readonly error: string | null;
}

/** In the order of the keys; a key that nobody has enqueued is missing. */
export const deliveryStates = async (db: Reading, keys: readonly string[]): Promise<DeliveryState[]> => {
  if (keys.length === 0) return [];
  const rows = await db.q.selectFrom('outbox').select(['key', 'state', 'message_ids', 'error']).where('key', 'in', [...keys]).execute();
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    return row === undefined ? [] : [{ key, state: row.state, messageIds: row.message_ids === null ? [] : (JSON.parse(row.message_ids) as string[]), error: row.error }];
  });
};

/** Whether a gateway holds the account's connection right now. */
export const isServed = async (db: Reading, account: string): Promise<boolean> => {
  const row = await db.q.selectFrom('accounts').select('account').where('account', '=', account).where('owner', 'is not', null).where('lease_until', '>=', db.now).executeTakeFirst();
  return row !== undefined;
};
