import { findSession, setTitle } from '../store/sessions/sessions.ts';
import { cleanTitle } from '../sessions/titles/clean-title.ts';
import type { Command } from './contract.ts';

export const title: Command = {
  name: 'title',
  aliases: [],
  category: 'Session',
  description: 'Name this conversation',
  args: '[title]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const wanted = cleanTitle(call.args);
    if (wanted === '') {
      const session = await findSession(tx, call.sessionId);
      return session?.title == null ? 'This conversation has no title. Give it one with /title <title>.' : `This conversation is called “${session.title}”.`;
    }
    return (await setTitle(tx, call.sessionId, wanted)) ? `This conversation is now called “${wanted}”.` : `Another conversation is already called “${wanted}”.`;
  },
};
