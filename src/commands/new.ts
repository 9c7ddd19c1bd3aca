import { newSessionId } from '../core/ids.ts';
import { replyTarget } from '../core/message.ts';
import { withdrawWaiting } from '../store/inbox.ts';
import { requestStop } from '../store/lanes.ts';
import { bindSession, createSession, endSession, setTitle } from '../store/sessions.ts';
import type { Command } from './contract.ts';

export const newConversation: Command = {
  name: 'new',
  aliases: ['reset'],
  category: 'Session',
  description: 'Start a new conversation; the old one is kept',
  args: '[title]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const withdrawn = await withdrawWaiting(tx, call.lane, 'a new conversation was started');
    await requestStop(tx, call.lane);
    await endSession(tx, call.sessionId, 'new');
    const id = newSessionId(new Date(call.nowMs));
    await createSession(tx, { id, agent: call.agent, account: call.event.account, chatType: call.event.chat.type, userId: call.event.sender.id, parentId: call.sessionId });
    await bindSession(tx, { sessionKey: call.sessionKey, sessionId: id, target: replyTarget(call.event) });
    const titled = call.args === '' ? undefined : await setTitle(tx, id, call.args.slice(0, 100));
    return [
      '✨ New conversation.',
      titled === false ? 'Another conversation already has that title, so this one has none.' : '',
      withdrawn.length > 0 ? `Not answered any more: ${withdrawn.map((item) => `“${item.event.text.slice(0, 60).toWellFormed()}”`).join(', ')}` : '',
      `The old one is still there: \`/resume ${call.sessionId}\``,
    ]
      .filter((part) => part !== '')
      .join('\n');
  },
};
