import type { Command } from './contract.ts';

const part = (word: string, names: readonly string[]): string => (names.length === 0 ? '' : `${word}: ${names.map((name) => `\`${name}\``).join(', ')}`);

export const reloadSkills: Command = {
  name: 'reload-skills',
  aliases: [],
  category: 'Tools',
  description: 'Read the skills anew',
  role: 'admin',
  whileRunning: 'allowed',
  run(_tx, call) {
    const reach = call.reach.skills?.(call.agent);
    if (reach === undefined) return Promise.resolve('This agent has no skills of ours.');
    call.after(async () => {
      const { added, changed, removed } = await reach.reload();
      const { skills, broken } = reach.shelf;
      const parts = [part('new', added), part('changed', changed), part('gone', removed), ...broken.map(({ path, reason }) => `⚠️ \`${path}\` cannot be used: ${reason}`)];
      return [`🔄 ${skills.length} ${skills.length === 1 ? 'skill' : 'skills'}.`, ...parts.filter((each) => each !== '')].join('\n');
    });
    return Promise.resolve('');
  },
};
