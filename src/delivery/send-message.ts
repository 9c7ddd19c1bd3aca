import type { Clock } from '../lib/clock.ts';
import { slept } from '../lib/clock.ts';
import type { Platform } from '../platforms/contract.ts';
import { deliveryStates } from '../store/messages/delivery-states.ts';
import { enqueueDelivery } from '../store/messages/outbox.ts';
import type { Store, Writing } from '../store/store.ts';
import { composeDeliveries } from './compose.ts';
import type { Outgoing } from './compose.ts';

/** Puts a text on its way that nobody's message has caused; answers the keys of its deliveries. */
export const enqueueMessage = async (tx: Writing, platform: Platform, out: Outgoing): Promise<readonly string[]> => {
  const deliveries = composeDeliveries(platform, out);
  for (const delivery of deliveries) await enqueueDelivery(tx, delivery, {});
  return deliveries.map(({ message }) => message.key);
};

/** What became of a message, so far. */
export type SendOutcome =
  | { readonly state: 'sent'; readonly messageIds: readonly string[] }
  | { readonly state: 'failed'; readonly error: string }
  /** It is kept, and goes out when the platform lets it. */
  | { readonly state: 'waiting' };

const lookEveryMs = 150;

/** Waits until a message is there or given up, at most for so long. */
export const awaitMessage = async (at: { readonly store: Store; readonly clock: Clock; readonly timeoutMs: number }, keys: readonly string[], signal: AbortSignal): Promise<SendOutcome> => {
  const untilMs = at.clock.now() + at.timeoutMs;
  for (;;) {
    const states = await at.store.read((db) => deliveryStates(db, keys));
    const failed = states.find(({ state }) => state === 'failed' || state === 'cancelled');
    if (failed !== undefined) return { state: 'failed', error: failed.error ?? 'it was given up' };
    if (states.length === keys.length && states.every(({ state }) => state === 'sent')) return { state: 'sent', messageIds: states.flatMap(({ messageIds }) => messageIds) };
    if (at.clock.now() >= untilMs || !(await slept(at.clock, lookEveryMs, signal))) return { state: 'waiting' };
  }
};
