import { commandLine } from './command-line.ts';
import type { Command, CommandCategory } from './contract.ts';
import { usableCommands } from './visible.ts';

const categories: readonly CommandCategory[] = ['Session', 'Configuration', 'Tools', 'Info'];

export const help: Command = {
  name: 'help',
  aliases: [],
  category: 'Info',
  description: 'Show the commands that you may use',
  role: 'guest',
  whileRunning: 'allowed',
  run: (_tx, call) => {
    const usable = usableCommands(call);
    const blocks = categories.map((category) => {
      const lines = usable.filter((command) => command.category === category).map(commandLine);
      return lines.length === 0 ? '' : `**${category}**\n${lines.join('\n')}`;
    });
    return Promise.resolve(blocks.filter((block) => block !== '').join('\n\n'));
  },
};
