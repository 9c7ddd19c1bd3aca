import { newestSaid } from '../store/sessions/transcripts.ts';
import type { StoredMessage } from '../store/sessions/transcripts.ts';
import type { Command } from './contract.ts';

const usual = 10;
const most = 50;
const longest = 300;
/** Tools may have a lot of rows between what was said. */
const mostRead = 500;

const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);

/** One line, so that what was quoted cannot pass for another message of the list. */
const line = ({ message }: StoredMessage): string => {
  const files = (message.attachments ?? []).map((file) => `[${file.kind} ${file.name}]`);
  const text = [message.content, ...files].join(' ').replaceAll(/\s+/g, ' ').trim();
  return `**${message.role === 'user' ? 'You' : 'Me'}:** ${shorten(text)}`;
};

/** Tools have their own rows; people ask for what was said. */
const isSaid = ({ message }: StoredMessage): boolean => message.role !== 'tool' && (message.content.trim() !== '' || (message.attachments ?? []).length > 0);

export const history: Command = {
  name: 'history',
  aliases: [],
  category: 'Session',
  description: 'Show what was said last',
  args: '[N]',
  whileRunning: 'allowed',
  async run(tx, call) {
    const count = call.args === '' ? usual : Number(call.args);
    if (!Number.isInteger(count) || count < 1 || count > most) return `Usage: /history [N], with N from 1 to ${most}`;
    const said = (await newestSaid(tx, call.sessionId, mostRead)).filter(isSaid);
    if (said.length === 0) return 'Nothing has been said yet.';
    return said.slice(0, count).toReversed().map(line).join('\n');
  },
};
