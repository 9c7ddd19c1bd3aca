import type { Command, CommandCategory } from './contract.ts';

const categories: readonly CommandCategory[] = ['Session', 'Configuration', 'Info'];

const line = (command: Command): string => `/${command.name}${command.args === undefined ? '' : ` ${command.args}`} — ${command.description}`;

/** Knows the registry only through the function it is given, so that the registry can contain it. */
export const helpCommand = (all: () => readonly Command[]): Command => ({
  name: 'help',
  aliases: ['commands'],
  category: 'Info',
  description: 'Show the commands that you may use',
  whileRunning: 'allowed',
  run: (_tx, call) => {
    const blocks = categories.map((category) => {
      const lines = all().filter((command) => command.category === category && call.access.mayRun([command.name, ...command.aliases])).map(line);
      return lines.length === 0 ? '' : `**${category}**\n${lines.join('\n')}`;
    });
    return Promise.resolve(blocks.filter((block) => block !== '').join('\n\n'));
  },
});
