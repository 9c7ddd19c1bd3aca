import { deactivateFrom, lastUserMessage } from '../store/sessions/transcripts.ts';
import type { StoredMessage } from '../store/sessions/transcripts.ts';
import type { Writing } from '../store/store.ts';
import type { Command, CommandCall } from './contract.ts';

const most = 100;

const wantedCount = (args: string): number | undefined => {
  const count = args === '' ? 1 : Number(args);
  return Number.isInteger(count) && count >= 1 && count <= most ? count : undefined;
};

/** Where the last exchanges begin, and how many there are of those that were asked for. */
const lastExchanges = async (tx: Writing, call: CommandCall, count: number): Promise<{ readonly from: StoredMessage; readonly count: number } | undefined> => {
  const starts: StoredMessage[] = [];
  while (starts.length < count) {
    const earlier = await lastUserMessage(tx, call.sessionId, starts.at(-1)?.id);
    if (earlier === undefined) break;
    starts.push(earlier);
  }
  const from = starts.at(-1);
  return from === undefined ? undefined : { from, count: starts.length };
};

const named = ({ from, count }: { readonly from: StoredMessage; readonly count: number }): string =>
  `${count === 1 ? 'the last exchange' : `the last ${count} exchanges`}, from “${from.message.content.slice(0, 60).toWellFormed()}”`;

export const undo: Command = {
  name: 'undo',
  aliases: [],
  category: 'Session',
  description: 'Take back the last exchange, or the last N',
  args: '[N]',
  whileRunning: 'refused',
  async confirm(tx, call) {
    const exchanges = await lastExchanges(tx, call, wantedCount(call.args) ?? 1);
    return exchanges === undefined || exchanges.count === 1 ? undefined : `Take back ${named(exchanges)}?`;
  },
  async run(tx, call) {
    const count = wantedCount(call.args);
    if (count === undefined) return `Usage: /undo [N], with N from 1 to ${most}`;
    const exchanges = await lastExchanges(tx, call, count);
    if (exchanges === undefined) return 'There is nothing to take back.';
    await deactivateFrom(tx, call.sessionId, exchanges.from.id);
    return `↩️ Took back ${named(exchanges)}.`;
  },
};
