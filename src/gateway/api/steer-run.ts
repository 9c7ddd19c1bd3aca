import { randomBytes } from 'node:crypto';
import { progressOfCall } from '../../store/api/api-calls.ts';
import { enqueueLane, lockLane, turnLane } from '../../store/lanes/lanes.ts';
import { countWaiting, insertInboxItem } from '../../store/messages/inbox.ts';
import type { Writing } from '../../store/store.ts';
import { steerId } from './call-of.ts';
import { apiAccount } from './place.ts';
import { mostWaitingCalls } from './submit-call.ts';

/** Says something to a run that goes on, which takes it into account before its next step. */
export const steerRun = async (tx: Writing, run: { readonly id: string; readonly sessionId: string }, said: { readonly text: string; readonly nowMs: number }): Promise<'accepted' | 'not_running' | 'queue_full'> => {
  const lane = turnLane(run.sessionId);
  // The run cannot end meanwhile.
  await lockLane(tx, { lane, kind: 'turn' });
  const { state, event, stopping } = await progressOfCall(tx, { id: run.id, account: apiAccount });
  if (state !== 'running' || stopping || event === undefined) return 'not_running';
  if ((await countWaiting(tx, lane)) >= mostWaitingCalls) return 'queue_full';
  await enqueueLane(tx, { lane, kind: 'turn' });
  const { files: _files, results: _results, ...rest } = event;
  const steer = { ...rest, nativeId: steerId(run.id, randomBytes(6).toString('hex')), text: said.text, sentAtMs: said.nowMs, steers: true as const };
  await insertInboxItem(tx, { event: steer, class: 'chat', decisions: [{ step: 'kind', verdict: `said to the run ${run.id}` }], place: { lane, sessionId: run.sessionId, sessionKey: '' } });
  return 'accepted';
};
