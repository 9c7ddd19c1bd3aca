import { countWaiting, withdrawWaiting } from '../store/messages/inbox.ts';
import { findSession, setTitle } from '../store/sessions/sessions.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import { cleanTitle } from '../sessions/titles/clean-title.ts';
import type { Command } from './contract.ts';
import { stopTurn } from './stop-turn.ts';
import { succeedSession } from './succeed.ts';

export const newConversation: Command = {
  name: 'new',
  aliases: ['reset'],
  category: 'Session',
  description: 'Start a new conversation; the old one is kept',
  args: '[title]',
  whileRunning: 'allowed',
  async confirm(tx, call) {
    const waiting = await countWaiting(tx, call.lane);
    const running = (await unfinishedTurn(tx, call.lane)) !== undefined;
    if (waiting === 0 && !running && ((await findSession(tx, call.sessionId))?.messageCount ?? 0) === 0) return undefined;
    return [
      'Start a new conversation? This one is kept, and /resume brings it back.',
      running ? 'What I am working on is stopped.' : '',
      waiting === 0 ? '' : `${waiting === 1 ? 'A message that waits is' : `${waiting} messages that wait are`} not answered any more.`,
    ]
      .filter((part) => part !== '')
      .join(' ');
  },
  async run(tx, call) {
    const withdrawn = await withdrawWaiting(tx, call.lane, 'a new conversation was started');
    await stopTurn(tx, call.lane);
    const id = await succeedSession(tx, call, 'new');
    const title = cleanTitle(call.args);
    const titled = title === '' ? undefined : await setTitle(tx, id, title);
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
