import { enqueueLane, laneFacts } from '../store/lanes/lanes.ts';
import { countWaiting, insertInboxItem, setTranscriptRow } from '../store/messages/inbox.ts';
import type { Writing } from '../store/store.ts';
import type { CommandCall } from './contract.ts';

export interface FollowUp {
  readonly text: string;
  /** What made it, for the trace. */
  readonly mark: string;
  /** It is handed to the running turn, whatever a message does otherwise. */
  readonly steers?: true;
  /** The message already stands in the transcript there, and is only to be answered. */
  readonly transcriptRow?: number;
}

/** Puts a text into the conversation as if its sender had written it now, without interrupting what runs. */
export const enqueueFollowUp = async (tx: Writing, call: CommandCall, message: FollowUp): Promise<{ running: boolean; count: number }> => {
  const { running } = await laneFacts(tx, call.lane);
  const { button: _button, replyTo: _replyTo, batch: _batch, ...rest } = call.event;
  const event = { ...rest, kind: 'message' as const, nativeId: `${call.event.nativeId}:${message.mark}`, text: message.text, media: [], patient: true as const, ...(message.steers === true && { steers: true as const }) };
  // The lane's lock first: it makes the order of items the order of commits.
  await enqueueLane(tx, { lane: call.lane, kind: 'turn' });
  const id = await insertInboxItem(tx, {
    event,
    class: 'chat',
    decisions: [{ step: 'command', verdict: message.mark }],
    place: { lane: call.lane, sessionId: call.sessionId, sessionKey: call.sessionKey },
  });
  if (id !== undefined && message.transcriptRow !== undefined) await setTranscriptRow(tx, id, message.transcriptRow);
  return { running, count: await countWaiting(tx, call.lane) };
};
