import { printCost } from '../lib/print-usd.ts';
import { findSession } from '../store/sessions/sessions.ts';
import type { Command } from './contract.ts';

export const usage: Command = {
  name: 'usage',
  aliases: [],
  category: 'Info',
  description: 'Show what this conversation has used',
  whileRunning: 'allowed',
  async run(tx, call) {
    const session = await findSession(tx, call.sessionId);
    if (session === undefined) return 'Nothing has been used yet.';
    const { usage: used } = session;
    return [
      `**Turns** ${session.turnCount}`,
      `**Input** ${used.inputTokens} tokens (${used.cacheReadTokens} from cache)`,
      `**Output** ${used.outputTokens} tokens (${used.reasoningTokens} of them reasoning)`,
      `**Cost** ${used.cost === undefined ? 'unknown' : printCost(used.cost)}`,
      `**Model** ${session.model ?? 'not used yet'}`,
    ].join('\n');
  },
};
