import { deactivateFrom, lastUserMessage } from '../store/transcripts.ts';
import type { Command } from './contract.ts';

export const undo: Command = {
  name: 'undo',
  aliases: [],
  category: 'Session',
  description: 'Take back the last exchange, or the last N',
  args: '[N]',
  whileRunning: 'refused',
  async run(tx, call) {
    const count = call.args === '' ? 1 : Number(call.args);
    if (!Number.isInteger(count) || count < 1 || count > 100) return 'Usage: /undo [N], with N from 1 to 100';
    let from = await lastUserMessage(tx, call.sessionId);
    let undone = from === undefined ? 0 : 1;
    while (from !== undefined && undone < count) {
      const earlier = await lastUserMessage(tx, call.sessionId, from.id);
      if (earlier === undefined) break;
      from = earlier;
      undone += 1;
    }
    if (from === undefined) return 'There is nothing to take back.';
    await deactivateFrom(tx, call.sessionId, from.id);
    return `↩️ Took back ${undone === 1 ? 'the last exchange' : `the last ${undone} exchanges`}, from “${from.message.content.slice(0, 60).toWellFormed()}”.`;
  },
};
