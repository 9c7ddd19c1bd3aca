import { turnLane } from '../store/lanes/lanes.ts';
import { countWaiting } from '../store/messages/inbox.ts';
import { placesOfOtherAgents } from '../store/sessions/bound-places.ts';
import { unfinishedTurn } from '../store/sessions/turns.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';
import { stopTurn } from './stop-turn.ts';

const ended = (count: number): string => (count === 0 ? '' : `⏹ ${count === 1 ? 'A program' : `${count} programs`} in the background ended.`);

/** What is at work at this place, for this agent or for one that answered here before a route was changed. */
const lanesAtWork = async (tx: Writing, call: CommandCall): Promise<readonly string[]> => {
  const { account, chat } = call.event;
  const others = await placesOfOtherAgents(tx, call.sessionKey, { account, chatId: chat.id });
  const working: string[] = [];
  for (const lane of [call.lane, ...others.map(turnLane)]) if ((await unfinishedTurn(tx, lane)) !== undefined) working.push(lane);
  return working;
};

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
    const working = await lanesAtWork(tx, call);
    if (working.length === 0) return live ? '' : 'Nothing is running.';
    for (const lane of working) await stopTurn(tx, lane);
    const waiting = await countWaiting(tx, call.lane);
    if (waiting === 0) return '⏹ Stopped.';
    return `⏹ Stopped. ${waiting === 1 ? 'The message that waited comes next.' : `The ${waiting} messages that waited come next.`}`;
  },
};
