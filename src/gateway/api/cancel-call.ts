import { stopTurn } from '../../commands/stop-turn.ts';
import { noUsage } from '../../core/transcript.ts';
import { apiCall, progressOfCall, waitingCall } from '../../store/api/api-calls.ts';
import { lockLane, turnLane } from '../../store/lanes/lanes.ts';
import { closeItem } from '../../store/messages/inbox.ts';
import type { Writing } from '../../store/store.ts';
import { endCall } from './end-call.ts';
import { apiAccount } from './place.ts';

/** Ends a call: one that waits never begins, one that runs stops. Another call of the same conversation is not touched. */
export const cancelCall = async (tx: Writing, id: string): Promise<void> => {
  const known = await apiCall(tx, id);
  if (known === undefined) return;
  const lane = turnLane(known.sessionId);
  // Its turn neither begins nor ends meanwhile, and none behind it begins.
  await lockLane(tx, { lane, kind: 'turn' });
  const call = await apiCall(tx, id);
  if (call === undefined || call.result !== undefined) return;
  const waiting = await waitingCall(tx, { id, account: apiAccount });
  if (waiting !== undefined && (await closeItem(tx, waiting, 'cancelled by the caller'))) {
    await endCall(tx, call, { reason: 'stopped', error: null, rows: [], usage: noUsage, throughId: 0 });
    return;
  }
  if ((await progressOfCall(tx, { id, account: apiAccount })).state === 'running') await stopTurn(tx, lane);
};
