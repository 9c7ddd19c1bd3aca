import { boundedLine } from '../clean-text.ts';
import type { ToolGroup } from '../toolsets.ts';
import type { Skill } from './load-skills.ts';
import type { SkillSystem } from './parse-skill.ts';

const systems: Readonly<Partial<Record<NodeJS.Platform, SkillSystem>>> = { linux: 'linux', darwin: 'macos', win32: 'windows' };

const maxDescriptionChars = 160;
const maxIndexChars = 8_000;

/** Skills that make sense with these tools on this machine, in the order given. */
export const visibleSkills = (skills: readonly Skill[], groups: readonly ToolGroup[], platform: NodeJS.Platform = process.platform): readonly Skill[] => {
  const system = systems[platform];
  const toolsets = new Set(groups.map((group) => group.toolset));
  const tools = new Set(groups.flatMap((group) => group.tools.map((tool) => tool.definition.name)));
  const fits = (skill: Skill): boolean =>
    (skill.systems.length === 0 || (system !== undefined && skill.systems.includes(system))) &&
    skill.requiresToolsets.every((name) => toolsets.has(name)) &&
    skill.requiresTools.every((name) => tools.has(name)) &&
    !skill.fallbackForToolsets.some((name) => toolsets.has(name)) &&
    !skill.fallbackForTools.some((name) => tools.has(name));
  return skills.filter(fits);
};

const heading = `## Skills

Instructions that somebody wrote for recurring work. When one of them covers what you are asked to do, read it with skill_view before you begin, and follow it.
`;

/** One line for each skill, for the system prompt: the same skills give the same bytes. Undefined when there are none. */
export const skillsIndex = (skills: readonly Skill[]): string | undefined => {
  if (skills.length === 0) return undefined;
  const lines: string[] = [];
  let chars = heading.length;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${boundedLine(description, maxDescriptionChars)}`;
    chars += line.length + 1;
    if (chars > maxIndexChars) return `${heading}\n${lines.join('\n')}\n… and ${skills.length - lines.length} more; skills_list shows them all.`;
    lines.push(line);
  }
  return `${heading}\n${lines.join('\n')}`;
};
