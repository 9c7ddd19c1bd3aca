import { commandLine } from './command-line.ts';
import type { Command } from './contract.ts';
import { usableCommands } from './visible.ts';

const perPage = 20;

export const listCommands: Command = {
  name: 'commands',
  aliases: [],
  category: 'Info',
  description: 'List the commands page by page',
  args: '[page]',
  whileRunning: 'allowed',
  run: (_tx, call) => {
    const usable = usableCommands(call).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
    const pages = Math.ceil(usable.length / perPage);
    const page = call.args === '' ? 1 : Number(call.args);
    if (!Number.isInteger(page) || page < 1 || page > pages) return Promise.resolve(`Usage: /commands [page], with a page from 1 to ${pages}`);
    const lines = usable.slice((page - 1) * perPage, page * perPage).map(commandLine);
    const more = page < pages ? `\n\nMore with /commands ${page + 1}.` : '';
    return Promise.resolve(`**Commands**, page ${page} of ${pages}\n${lines.join('\n')}${more}`);
  },
};
