import { countWaiting } from '../store/messages/inbox.ts';
import { enqueueFollowUp } from './follow-up.ts';
import type { Command } from './contract.ts';

export const queue: Command = {
  name: 'queue',
  aliases: ['q'],
  category: 'Session',
  description: 'Let a message wait for its turn without interrupting',
  args: '<message>',
  whileRunning: 'allowed',
  async run(tx, call) {
    if (call.args === '') return 'Usage: /queue <message>';
    const before = await countWaiting(tx, call.lane);
    if (before >= call.queueLimit) return `⛔ ${before} of your messages are already waiting, so I did not take this one. Please send it again later, or /stop.`;
    const waiting = await enqueueFollowUp(tx, call, { text: call.args, mark: 'queued' });
    return waiting.running ? `⏳ Queued, ${waiting.count} waiting.` : '';
  },
};
