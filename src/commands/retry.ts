import { deactivateFrom, lastUserMessage } from '../store/sessions/transcripts.ts';
import { enqueueFollowUp } from './follow-up.ts';
import type { Command } from './contract.ts';

export const retry: Command = {
  name: 'retry',
  aliases: [],
  category: 'Session',
  description: 'Answer the last message again',
  whileRunning: 'refused',
  async run(tx, call) {
    const last = await lastUserMessage(tx, call.sessionId);
    if (last === undefined) return 'There is nothing to answer again.';
    await deactivateFrom(tx, call.sessionId, last.id + 1);
    await enqueueFollowUp(tx, call, { text: last.message.content, mark: 'retry', transcriptRow: last.id });
    return '';
  },
};
