import { setTitle } from '../store/sessions/sessions.ts';
import { copyMessages } from '../store/sessions/transcripts.ts';
import { cleanTitle } from '../sessions/titles/clean-title.ts';
import type { Command } from './contract.ts';
import { succeedSession } from './succeed.ts';

export const branch: Command = {
  name: 'branch',
  aliases: ['fork'],
  category: 'Session',
  description: 'Go on in a copy of this conversation',
  args: '[title]',
  whileRunning: 'refused',
  async run(tx, call) {
    const id = await succeedSession(tx, call, 'branched');
    const copied = await copyMessages(tx, call.sessionId, id);
    const title = cleanTitle(call.args);
    const titled = title === '' ? undefined : await setTitle(tx, id, title);
    return [
      `🌿 Branched with ${copied} messages. The original stays as it was: \`/resume ${call.sessionId}\``,
      titled === false ? 'Another conversation already has that title, so this one has none.' : '',
    ]
      .filter((part) => part !== '')
      .join('\n');
  },
};
