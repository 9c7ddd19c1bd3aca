import { skillCommands } from '../agent/tools/skills/skill-commands.ts';
import type { Skill } from '../agent/tools/skills/load-skills.ts';
import type { Command, CommandCall } from './contract.ts';
import type { SkillsReach } from './reach.ts';

const maxBodyChars = 3_000;

const list = ({ shelf }: SkillsReach, call: CommandCall): string => {
  const lines = skillCommands(shelf.skills).map(({ name, description }) => `/${name} — ${description}`);
  const broken = call.access.mayAdminister ? shelf.broken.map(({ path, reason }) => `⚠️ \`${path}\` cannot be used: ${reason}`) : [];
  if (lines.length === 0 && broken.length === 0) return 'There are no skills yet. One is a folder below `skills` in the home folder, with a SKILL.md.';
  return [...lines, ...(broken.length === 0 ? [] : ['', ...broken])].join('\n');
};

const view = (skill: Skill): string => {
  const facts = [skill.category, ...skill.tags].filter((fact) => fact !== undefined);
  const body = skill.body.length > maxBodyChars ? `${skill.body.slice(0, maxBodyChars).toWellFormed()}…` : skill.body;
  return [`**${skill.name}** ${skill.description}`, ...(facts.length === 0 ? [] : [`_${facts.join(', ')}_`]), '', body].join('\n');
};

export const skills: Command = {
  name: 'skills',
  aliases: [],
  category: 'Tools',
  description: 'Show the skills that there are, or one of them',
  args: '[name]',
  whileRunning: 'allowed',
  run(_tx, call) {
    const reach = call.reach.skills?.(call.agent);
    if (reach === undefined) return Promise.resolve('This agent has no skills of ours.');
    if (call.args === '') return Promise.resolve(list(reach, call));
    const skill = reach.find(call.args.replace(/^\//, ''));
    return Promise.resolve(skill === undefined ? `There is no skill ${call.args.slice(0, 64)}. /skills lists them.` : view(skill));
  },
};
