import { countWaiting } from '../store/messages/inbox.ts';
import type { Command } from './contract.ts';
import { enqueueFollowUp } from './follow-up.ts';

export const steer: Command = {
  name: 'steer',
  aliases: [],
  category: 'Session',
  description: 'Tell me something about what I am doing, without stopping it',
  args: '<message>',
  whileRunning: 'allowed',
  async run(tx, call) {
    if (call.args === '') return 'Usage: /steer <message>';
    const before = await countWaiting(tx, call.lane);
    if (before >= call.queueLimit) return `⛔ ${before} of your messages are already waiting, so I did not take this one. Please send it again later, or /stop.`;
    const { running } = await enqueueFollowUp(tx, call, { text: call.args, mark: 'steer', steers: true });
    return running ? '⏩ Noted, I take it into account.' : '';
  },
};
