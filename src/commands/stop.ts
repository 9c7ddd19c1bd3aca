import { countWaiting } from '../store/inbox.ts';
import { unfinishedTurn } from '../store/turns.ts';
import type { Command } from './contract.ts';
import { stopTurn } from './stop-turn.ts';

export const stop: Command = {
  name: 'stop',
  aliases: [],
  category: 'Session',
  description: 'Stop what I am doing',
  whileRunning: 'allowed',
  async run(tx, call) {
    if ((await unfinishedTurn(tx, call.lane)) === undefined) return 'Nothing is running.';
    await stopTurn(tx, call.lane);
    const waiting = await countWaiting(tx, call.lane);
    if (waiting === 0) return '⏹ Stopped.';
    return `⏹ Stopped. ${waiting === 1 ? 'The message that waited comes next.' : `The ${waiting} messages that waited come next.`}`;
  },
};
