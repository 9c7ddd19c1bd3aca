import { z } from 'zod';
import { boundedLine } from '../clean-text.ts';
import { ToolError } from '../contract.ts';
import type { Tool } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import type { Skill } from './load-skills.ts';
import { listSkillFiles, readSkillFile } from './skill-files.ts';
import type { SkillLibrary } from './skill-library.ts';

export interface SkillToolsDeps {
  readonly library: SkillLibrary;
  /** Whether a variable that a skill needs is set. */
  hasVariable(name: string): boolean;
}

export const findSkill = (library: SkillLibrary, name: string): Skill => {
  const skill = library.find(name);
  if (skill !== undefined) return skill;
  const names = library.shelf.skills.slice(0, 50).map((each) => each.name);
  throw new ToolError('bad_arguments', `There is no skill ${JSON.stringify(name.slice(0, 100))}. There are: ${names.join(', ') || 'none'}.`);
};

const line = (skill: Skill): string => {
  const facts = [skill.category, ...skill.tags].filter((fact) => fact !== undefined);
  return `- ${skill.name}: ${boundedLine(skill.description, 300)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
};

const skillsList = ({ library }: SkillToolsDeps): Tool =>
  defineTool({
    name: 'skills_list',
    description: 'Lists the skills there are: instructions for recurring work. Read one with skill_view before you use it.',
    args: z.object({ category: z.string().optional().describe('Only those of one category.') }),
    parallelSafe: true,
    async run({ category }) {
      const skills = library.shelf.skills.filter((skill) => category === undefined || skill.category === category);
      return skills.length === 0 ? 'There are no skills.' : skills.map(line).join('\n');
    },
  });

const view = async (skill: Skill, deps: SkillToolsDeps): Promise<string> => {
  const files = await listSkillFiles(skill);
  const missing = skill.variables.filter((name) => !deps.hasVariable(name));
  return [
    `Skill ${skill.name}, in ${skill.folder}`,
    ...(missing.length === 0 ? [] : [`It needs variables that are not set: ${missing.join(', ')}. The owner can set them in the .env of the home folder.`]),
    '',
    skill.body,
    ...(files.length === 0 ? [] : ['', `Its files, for skill_view with file_path: ${files.join(', ')}`]),
  ].join('\n');
};

const skillView = (deps: SkillToolsDeps): Tool =>
  defineTool({
    name: 'skill_view',
    description: 'Reads a skill, or one of its files.',
    args: z.object({ name: z.string().min(1).describe('Name of the skill.'), file_path: z.string().min(1).max(500).optional().describe('A file of the skill, for example references/api.md; without it the instructions themselves.') }),
    parallelSafe: true,
    run({ name, file_path }) {
      const skill = findSkill(deps.library, name);
      return file_path === undefined || file_path === 'SKILL.md' ? view(skill, deps) : readSkillFile(skill, file_path);
    },
  });

/** Reading skills, as far as they are needed: names first, then instructions, then files. */
export const skillReadingTools = (deps: SkillToolsDeps): readonly Tool[] => [skillsList(deps), skillView(deps)];
