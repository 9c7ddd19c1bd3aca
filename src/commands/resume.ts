import { replyTarget } from '../core/message.ts';
import { bindingsOf, bindSession, endSession, findSession, listSessions, moveSession, reopenSession, resolveSessions, unbindSession } from '../store/sessions/sessions.ts';
import type { Session } from '../store/sessions/sessions.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';
import { label, mine, owns } from './own-sessions.ts';

/** A number is one of the list that /sessions showed last; everything else is an id, the start of one, or a title. */
const find = async (tx: Writing, call: CommandCall): Promise<readonly Session[]> => {
  const listed = /^\d{1,2}$/.test(call.args) ? ((await findSession(tx, call.sessionId))?.settings.listed ?? []) : [];
  const id = listed[Number(call.args) - 1];
  const numbered = id === undefined ? undefined : await findSession(tx, id);
  const found = numbered === undefined ? await resolveSessions(tx, call.args) : [numbered];
  return found.filter((session) => owns(session, call));
};

/** A conversation that lives elsewhere comes here; the place where it was begins a new one with its next message. */
const bringBack = async (tx: Writing, session: Session, call: CommandCall): Promise<void> => {
  const { account, chat, sender } = call.event;
  if (session.account === account) return;
  for (const { sessionKey } of await bindingsOf(tx, session.id)) await unbindSession(tx, sessionKey);
  await moveSession(tx, session.id, { account, chatType: chat.type, userId: chat.type === 'dm' ? sender.id : null });
};

export const resume: Command = {
  name: 'resume',
  aliases: [],
  category: 'Session',
  description: 'Go back to an earlier conversation of yours',
  args: '[number, title or id]',
  whileRunning: 'refused',
  async run(tx, call) {
    if (call.args === '') {
      const others = (await listSessions(tx, { limit: 10, ...mine(call) })).filter((session) => session.id !== call.sessionId);
      if (others.length === 0) return 'There is no earlier conversation of yours.';
      return ['Your earlier conversations:', ...others.map((session) => `- ${label(session)}`), 'Go back to one with /resume <title or id>.'].join('\n');
    }
    const found = await find(tx, call);
    const [session, ...others] = found;
    if (session === undefined) return `No conversation of yours is called “${call.args.slice(0, 80)}”.`;
    if (others.length > 0) return ['Several conversations start like that:', ...found.map((candidate) => `- ${label(candidate)}`)].join('\n');
    if (session.id === call.sessionId) return 'That is this conversation.';
    await endSession(tx, call.sessionId, 'switched');
    await reopenSession(tx, session.id);
    await bringBack(tx, session, call);
    await bindSession(tx, { sessionKey: call.sessionKey, sessionId: session.id, target: replyTarget(call.event) });
    return `↩️ Back in ${label(session)}.`;
  },
};
