import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';

/** The operating systems a skill can name. */
export type SkillSystem = 'linux' | 'macos' | 'windows';

/** When a skill is offered: only with certain tools, or only without others that would do better. */
export interface SkillConditions {
  readonly requiresToolsets: readonly string[];
  readonly requiresTools: readonly string[];
  readonly fallbackForToolsets: readonly string[];
  readonly fallbackForTools: readonly string[];
}

/** What a SKILL.md says. */
export interface SkillText extends SkillConditions {
  readonly name: string;
  readonly description: string;
  readonly category: string | undefined;
  readonly tags: readonly string[];
  /** Empty: all. */
  readonly systems: readonly SkillSystem[];
  /** Variables without which it does not work. */
  readonly variables: readonly string[];
  readonly body: string;
}

export type ParsedSkill = { readonly ok: true; readonly skill: SkillText } | { readonly ok: false; readonly reason: string };

export const maxSkillChars = 100_000;
const maxDescriptionChars = 1_024;

/** What a skill may be called: a folder and a command have to bear the name. */
export const skillName = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const words = z.union([z.array(z.coerce.string()), z.string().transform((text) => text.split(',').map((word) => word.trim()))]).catch([]).default([]);

const system = z.enum(['linux', 'macos', 'windows']);

const frontmatter = z.looseObject({
  name: z.string().trim().toLowerCase().regex(skillName, 'is to be a name of lower-case letters, digits, - and _').optional(),
  description: z.string('is missing').trim().min(1, 'is missing').transform((text) => text.replaceAll(/\s+/g, ' ').slice(0, maxDescriptionChars)),
  platforms: words.transform((names) => names.flatMap((name) => system.safeParse(name.toLowerCase()).data ?? [])),
  required_environment_variables: z
    .array(z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]))
    .catch([])
    .default([]),
  metadata: z
    .looseObject({
      hermes: z
        .looseObject({ tags: words, category: z.string().optional().catch(undefined), requires_toolsets: words, requires_tools: words, fallback_for_toolsets: words, fallback_for_tools: words })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** The YAML between two lines of dashes at the very beginning, and what comes after it. */
const split = (text: string): { readonly yaml: string; readonly body: string } | undefined => {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text);
  return match?.[1] === undefined ? undefined : { yaml: match[1], body: (match[2] ?? '').trim() };
};

const readYaml = (yaml: string): { readonly value: unknown } | { readonly reason: string } => {
  try {
    return { value: parse(yaml, { maxAliasCount: 10 }) };
  } catch (error) {
    if (error instanceof YAMLParseError || error instanceof ReferenceError) return { reason: error.message.split('\n', 1)[0] ?? '' };
    throw error;
  }
};

/** Reads a SKILL.md; `folder` names a skill that does not name itself. */
export const parseSkill = (text: string, folder: string): ParsedSkill => {
  if (text.length > maxSkillChars) return { ok: false, reason: `it has ${text.length} characters; ${maxSkillChars} are the most` };
  const parts = split(text);
  if (parts === undefined) return { ok: false, reason: 'it does not begin with `---`, YAML and `---`' };
  const yaml = readYaml(parts.yaml);
  if ('reason' in yaml) return { ok: false, reason: `its YAML cannot be read: ${yaml.reason}` };
  const read = frontmatter.safeParse(yaml.value);
  if (!read.success) return { ok: false, reason: read.error.issues.map((issue) => `${issue.path.join('.') || 'its YAML'} ${issue.message}`).join('; ') };
  const name = read.data.name ?? folder.toLowerCase();
  if (!skillName.test(name)) return { ok: false, reason: `${JSON.stringify(name)} cannot be the name of a skill: lower-case letters, digits, - and _` };
  const hermes = read.data.metadata?.hermes;
  return {
    ok: true,
    skill: {
      name,
      description: read.data.description,
      category: hermes?.category,
      tags: hermes?.tags ?? [],
      systems: read.data.platforms,
      variables: read.data.required_environment_variables,
      requiresToolsets: hermes?.requires_toolsets ?? [],
      requiresTools: hermes?.requires_tools ?? [],
      fallbackForToolsets: hermes?.fallback_for_toolsets ?? [],
      fallbackForTools: hermes?.fallback_for_tools ?? [],
      body: parts.body,
    },
  };
};
