import { replyTarget } from '../core/message.ts';
import { bindSession, endSession, listSessions, reopenSession, resolveSessions } from '../store/sessions.ts';
import type { Session } from '../store/sessions.ts';
import type { Command, CommandCall } from './contract.ts';

/** People get at their own conversations only; which platform they wrote on does not matter, who they are there does. */
const owns = (session: Session, call: CommandCall): boolean => session.userId === call.event.sender.id && session.account === call.event.account;

const label = (session: Session): string => `\`${session.id}\` ${session.title ?? ''} (${session.messageCount} messages)`;

export const resume: Command = {
  name: 'resume',
  aliases: ['sessions'],
  category: 'Session',
  description: 'Go back to an earlier conversation of yours',
  args: '[title or id]',
  whileRunning: 'refused',
  async run(tx, call) {
    if (call.args === '') {
      const mine = (await listSessions(tx, { limit: 10, account: call.event.account, userId: call.event.sender.id })).filter((session) => session.id !== call.sessionId);
      if (mine.length === 0) return 'There is no earlier conversation of yours.';
      return ['Your earlier conversations:', ...mine.map((session) => `- ${label(session)}`), 'Go back to one with /resume <title or id>.'].join('\n');
    }
    const found = (await resolveSessions(tx, call.args)).filter((session) => owns(session, call));
    const [session, ...others] = found;
    if (session === undefined) return `No conversation of yours is called “${call.args.slice(0, 80)}”.`;
    if (others.length > 0) return ['Several conversations start like that:', ...found.map((candidate) => `- ${label(candidate)}`)].join('\n');
    if (session.id === call.sessionId) return 'That is this conversation.';
    await endSession(tx, call.sessionId, 'switched');
    await reopenSession(tx, session.id);
    await bindSession(tx, { sessionKey: call.sessionKey, sessionId: session.id, target: replyTarget(call.event) });
    return `↩️ Back in ${label(session)}.`;
  },
};
