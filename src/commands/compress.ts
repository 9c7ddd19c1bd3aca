import { replyTarget } from '../core/message.ts';
import { enqueueLane } from '../store/lanes/lanes.ts';
import { contextSize } from '../store/sessions/context-size.ts';
import { leaveChore, unfinishedTurn } from '../store/sessions/turns.ts';
import type { TurnChore } from '../store/sessions/turns.ts';
import type { Command } from './contract.ts';

const fewestMessages = 4;
const usualExchanges = 2;
const mostExchanges = 100;
const longestFocus = 500;

const usage = `Usage: /compress [what the summary is to dwell on], or /compress here [N] to keep the last N exchanges word for word, with N from 1 to ${mostExchanges}; with --preview to see what would be summarised`;

const previewFlag = /(?:^|\s)--(?:preview|dry-?run)(?=\s|$)/gi;

const choreFor = (written: string): TurnChore | undefined => {
  const args = written.replaceAll(previewFlag, ' ').trim();
  const chore = compressionFor(args);
  return chore === undefined || args === written ? chore : { ...chore, preview: true };
};

const compressionFor = (args: string): TurnChore | undefined => {
  const here = /^here(?:\s+(\S+))?$/i.exec(args);
  if (here === null) return args.length > longestFocus ? undefined : { type: 'compress', ...(args !== '' && { focus: args }) };
  const keepExchanges = here[1] === undefined ? usualExchanges : Number(here[1]);
  return Number.isInteger(keepExchanges) && keepExchanges >= 1 && keepExchanges <= mostExchanges ? { type: 'compress', keepExchanges } : undefined;
};

export const compress: Command = {
  name: 'compress',
  aliases: ['compact'],
  category: 'Session',
  description: 'Summarise the older part of this conversation for the model; nothing is deleted',
  args: '[focus | here N] [--preview]',
  whileRunning: 'refused',
  async run(tx, call) {
    const chore = choreFor(call.args);
    if (chore === undefined) return usage;
    if ((await contextSize(tx, call.sessionId, fewestMessages)).messages < fewestMessages) return 'There is too little to summarise yet.';
    // The lane's lock first: no turn begins between the look and the chore.
    await enqueueLane(tx, { lane: call.lane, kind: 'turn' });
    if ((await unfinishedTurn(tx, call.lane)) !== undefined) return '⏳ I am still working. Wait for the answer or /stop first, then /compress again.';
    await leaveChore(tx, { sessionId: call.sessionId, lane: call.lane, target: replyTarget(call.event), chore });
    return '';
  },
};
