import { boundedLine } from '../clean-text.ts';
import type { Skill } from './load-skills.ts';

/** A skill as something that people can call. */
export interface SkillCommand {
  /** Letters, digits and `-`. */
  readonly name: string;
  readonly description: string;
  /** What the model is told when a person calls it; further skills may stand at the beginning of `args`, as `/other`. */
  expand(args: string): string;
}

const maxStacked = 5;

const commandName = (skill: Skill): string => skill.name.replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '');

/** The skills named at the beginning of a text, and what is left of it. */
const takeSkills = (text: string, named: ReadonlyMap<string, Skill>): { readonly skills: readonly Skill[]; readonly rest: string } => {
  const skills: Skill[] = [];
  let rest = text.trim();
  while (skills.length < maxStacked) {
    const match = /^\/([A-Za-z0-9_-]+)(?:\s+|$)/.exec(rest);
    const skill = match?.[1] === undefined ? undefined : named.get(match[1].toLowerCase().replaceAll('_', '-'));
    if (match === null || skill === undefined) break;
    skills.push(skill);
    rest = rest.slice(match[0].length);
  }
  return { skills, rest };
};

const asText = ({ name, folder, body }: Skill): string => `[skill ${name}, in ${folder}]\n${body}\n[end of skill ${name}]`;

const asMessage = (skills: readonly Skill[], request: string): string => {
  const names = skills.map(({ name }) => name).join(', ');
  const wish = request === '' ? 'They have not said yet what it is for: ask, unless the instructions need no more.' : request;
  return `[I call ${skills.length === 1 ? 'the skill' : 'the skills'} ${names}. Follow these instructions for what I want.]\n\n${skills.map(asText).join('\n\n')}\n\n${wish}`;
};

/** Every skill by name, in order. Of two whose names come out the same only the first can be called. Up to five can be called at once: `/one /two do this`. */
export const skillCommands = (skills: readonly Skill[]): readonly SkillCommand[] => {
  const named = new Map<string, Skill>();
  for (const skill of skills) if (!named.has(commandName(skill))) named.set(commandName(skill), skill);
  return [...named].map(([name, skill]) => ({
    name,
    description: boundedLine(skill.description, 100),
    expand(args) {
      const further = takeSkills(`/${name} ${args}`, named);
      return asMessage([...new Set(further.skills)], further.rest);
    },
  }));
};
