import { countWaiting } from '../store/inbox.ts';
import { unfinishedTurn } from '../store/turns.ts';
import type { Command } from './contract.ts';
import { stopTurn } from './stop-turn.ts';

const ended = (count: number): string => (count === 0 ? '' : `⏹ ${count === 1 ? 'A program' : `${count} programs`} in the background ended.`);

export const stop: Command = {
  name: 'stop',
  aliases: [],
  category: 'Session',
  description: 'Stop what I am doing',
  whileRunning: 'allowed',
  async run(tx, call) {
    const { processes } = call.reach;
    const live = processes?.hasLive(call.sessionId) === true;
    if (live) call.after(async () => ended((await processes?.killOf(call.sessionId)) ?? 0));
    if ((await unfinishedTurn(tx, call.lane)) === undefined) return live ? '' : 'Nothing is running.';
    await stopTurn(tx, call.lane);
    const waiting = await countWaiting(tx, call.lane);
    if (waiting === 0) return '⏹ Stopped.';
    return `⏹ Stopped. ${waiting === 1 ? 'The message that waited comes next.' : `The ${waiting} messages that waited come next.`}`;
  },
};
