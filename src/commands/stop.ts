import { countWaiting } from '../store/inbox.ts';
import { laneFacts, requestStop } from '../store/lanes.ts';
import type { Command } from './contract.ts';

export const stop: Command = {
  name: 'stop',
  aliases: [],
  category: 'Session',
  description: 'Stop what I am doing',
  whileRunning: 'allowed',
  async run(tx, call) {
    const { running } = await laneFacts(tx, call.lane);
    if (!running) return 'Nothing is running.';
    await requestStop(tx, call.lane);
    const waiting = await countWaiting(tx, call.lane);
    if (waiting === 0) return '⏹ Stopped.';
    return `⏹ Stopped. ${waiting === 1 ? 'The message that waited comes next.' : `The ${waiting} messages that waited come next.`}`;
  },
};
