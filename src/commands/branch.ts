import { newSessionId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import { bindSession, createSession, endSession, setTitle } from '../store/sessions.ts';
import { copyMessages } from '../store/transcripts.ts';
import type { Command } from './contract.ts';

export const branch: Command = {
  name: 'branch',
  aliases: ['fork'],
  category: 'Session',
  description: 'Go on in a copy of this conversation',
  args: '[title]',
  whileRunning: 'refused',
  async run(tx, call) {
    const id = newSessionId(new Date(call.nowMs));
    await createSession(tx, { id, agent: call.agent, account: call.event.account, chatType: call.event.chat.type, userId: call.event.sender.id, parentId: call.sessionId });
    const copied = await copyMessages(tx, call.sessionId, id);
    await endSession(tx, call.sessionId, 'branched');
    await bindSession(tx, { sessionKey: call.sessionKey, sessionId: id, target: replyTarget(call.event) });
    if (call.args !== '') await setTitle(tx, id, call.args.slice(0, 100));
    return `🌿 Branched with ${copied} messages. The original stays as it was: \`/resume ${call.sessionId}\``;
  },
};
