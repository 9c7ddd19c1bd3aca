import type { InboundEvent, Target } from '../core/message.ts';
import { enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { bindingsOf, findSession } from '../store/sessions/sessions.ts';
import { lastTarget } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';

/** Something that a conversation waits for has happened. */
export interface Notice {
  readonly sessionId: string;
  /** What happened; the same again is the same notice and changes nothing. */
  readonly key: string;
  /** What the model is told. */
  readonly text: string;
  /** Where it is answered, instead of where the conversation is. */
  readonly at?: { readonly target: Target; readonly sessionKey: string };
  readonly nowMs: number;
}

/**
 * Begins a turn of a conversation without anybody having written. The answer goes where the conversation is now, or was last; a turn that runs is
 * not disturbed. False when there is no such conversation, when it has no place, or when the notice was given before.
 */
export const enqueueNotice = async (tx: Writing, notice: Notice): Promise<boolean> => {
  const lane = turnLane(notice.sessionId);
  const binding = notice.at ?? (await bindingsOf(tx, notice.sessionId))[0];
  const target = binding?.target ?? (await lastTarget(tx, lane));
  if (target === undefined || (await findSession(tx, notice.sessionId)) === undefined) return false;
  const event: InboundEvent = {
    account: target.account,
    kind: 'notice',
    nativeId: notice.key,
    chat: { id: target.chatId, type: target.chatType, ...(target.threadId !== undefined && { threadId: target.threadId }), ...(target.scopeId !== undefined && { scopeId: target.scopeId }) },
    sender: { id: 'hermes', name: 'Hermes', isBot: true },
    text: notice.text,
    media: [],
    addressed: true,
    mentioned: false,
    sentAtMs: notice.nowMs,
  };
  await enqueueLane(tx, { lane, kind: 'turn' });
  const place = { lane, sessionId: notice.sessionId, sessionKey: binding?.sessionKey ?? '' };
  const id = await insertInboxItem(tx, { event, class: 'chat', decisions: [{ step: 'kind', verdict: 'notice of the gateway' }], place });
  return id !== undefined;
};
