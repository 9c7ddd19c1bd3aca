import { endApiCall } from '../../store/api/api-calls.ts';
import type { ApiCallResult } from '../../store/api/api-calls.ts';
import { addApiSpend, spendDay } from '../../store/api/api-keys.ts';
import { appendRunEvents } from '../../store/api/api-run-events.ts';
import type { RunEvent } from '../../store/api/api-run-events.ts';
import { turnLane } from '../../store/lanes/lanes.ts';
import { closeItem, waitingItems } from '../../store/messages/inbox.ts';
import { databaseNow } from '../../store/store.ts';
import type { Writing } from '../../store/store.ts';
import { isRun } from './call-of.ts';

const mostLate = 100;

/** What was said to a run and came too late is not answered by a turn of its own: nobody would hear that. */
const closeLate = async (tx: Writing, call: { readonly id: string; readonly sessionId: string }): Promise<readonly RunEvent[]> => {
  const missed: RunEvent[] = [];
  for (const { id, event } of await waitingItems(tx, turnLane(call.sessionId), mostLate)) {
    if (event.steers !== true || !event.nativeId.startsWith(`${call.id}:`)) continue;
    if (await closeItem(tx, id, 'the run had ended')) missed.push({ type: 'steered', text: event.text, missed: true });
  }
  return missed;
};

/** Keeps how a call has ended, for whoever asks later, and what it has cost its key. The first end counts. */
export const endCall = async (tx: Writing, call: { readonly id: string; readonly sessionId: string }, result: ApiCallResult): Promise<void> => {
  const keyId = await endApiCall(tx, call.id, result);
  if (keyId === undefined) return;
  const usd = result.usage.cost?.usd ?? 0;
  if (usd > 0) await addApiSpend(tx, { keyId, day: spendDay(await databaseNow(tx)), usd });
  if (isRun(call.id)) await appendRunEvents(tx, call.id, [...(await closeLate(tx, call)), { type: 'end' }]);
};
