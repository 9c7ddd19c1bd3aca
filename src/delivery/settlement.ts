import type { Attempt, Delivery, OutboxItem, Settlement } from '../store/messages/outbox.ts';
import { nextPiece } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** What is left of a delivery whose text must not outlive its showing. */
const withoutSecret = ({ message }: Delivery): Delivery => ({ message: { ...message, text: '' } });

/** What is written down after a try that succeeded; the next piece of the text, if there is one, is still to be sent. */
export const settlementOfSent = (item: OutboxItem, sent: { readonly atMs: number; readonly messageIds: readonly string[] }): Settlement => {
  const log: readonly Attempt[] = [...item.log, { atMs: sent.atMs, outcome: 'sent', detail: sent.messageIds.join(' ') }];
  const messageIds = [...item.messageIds, ...sent.messageIds];
  const following = nextPiece(item.delivery);
  if (following !== undefined) return { state: 'pending', log, messageIds, delivery: following };
  return { state: 'sent', log, messageIds, ...(item.delivery.message.secret === true && { delivery: withoutSecret(item.delivery) }) };
};

/** What is written down after one that did not. */
export const settlementOf = (item: OutboxItem, verdict: Verdict, attempt: Attempt): Settlement => {
  const log = [...item.log, attempt];
  switch (verdict.type) {
    case 'again':
      return { state: 'pending', log, delayMs: verdict.delayMs, uncounted: verdict.uncounted, ...(verdict.delivery !== undefined && { delivery: verdict.delivery }) };
    case 'repeat':
      return { state: 'unknown', log, delayMs: verdict.delayMs, delivery: verdict.delivery, repeated: true };
    case 'fail':
      return { state: 'failed', log, error: verdict.reason, ...(item.delivery.message.secret === true && { delivery: withoutSecret(item.delivery) }) };
    default:
      throw verdict satisfies never;
  }
};
