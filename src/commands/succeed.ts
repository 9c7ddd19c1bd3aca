import { newSessionId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import { bindSession, createSession, endSession, findSession } from '../store/sessions/sessions.ts';
import type { EndReason } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { CommandCall } from './contract.ts';

/** Ends the conversation of a place and opens its successor there, which belongs to whom the old one belonged to: a person, or everybody in the chat. */
export const succeedSession = async (tx: Writing, call: CommandCall, reason: EndReason): Promise<string> => {
  const id = newSessionId(new Date(call.nowMs));
  const { userId = null } = (await findSession(tx, call.sessionId)) ?? {};
  await createSession(tx, { id, agent: call.agent, account: call.event.account, chatType: call.event.chat.type, parentId: call.sessionId, ...(userId !== null && { userId }) });
  await endSession(tx, call.sessionId, reason);
  await bindSession(tx, { sessionKey: call.sessionKey, sessionId: id, target: replyTarget(call.event) });
  return id;
};
