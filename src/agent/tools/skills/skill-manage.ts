import { mkdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Approver } from '../../approvals/contract.ts';
import { ToolError } from '../contract.ts';
import type { Tool, ToolContext } from '../contract.ts';
import { defineTool } from '../define-tool.ts';
import { removeFile, stageFile } from '../files/replace-file.ts';
import type { Skill } from './load-skills.ts';
import { maxSkillChars, parseSkill, skillName } from './parse-skill.ts';
import { maxFileBytes, readSkillFile, realInside, writableSkillFile } from './skill-files.ts';
import type { SkillLibrary } from './skill-library.ts';
import { findSkill } from './skill-tools.ts';

export interface SkillManageDeps {
  readonly library: SkillLibrary;
  /** Says what is suspicious in a text that would steer later conversations; undefined when nothing is. */
  scan(text: string): string | undefined;
  readonly approve: Approver;
  /** Whether a person has to agree to every change. */
  needsApproval(): boolean;
}

const args = z.object({
  action: z.enum(['create', 'edit', 'patch', 'write_file', 'remove_file', 'delete']),
  name: z.string().trim().toLowerCase().regex(skillName, 'Use lower-case letters, digits, - and _.').describe('Name of the skill.'),
  category: z.string().trim().toLowerCase().regex(skillName).optional().describe('create: the folder of skills that it belongs to.'),
  content: z.string().max(maxSkillChars).optional().describe('create, edit: the whole SKILL.md, beginning with --- and YAML with name and description (at most 60 characters).'),
  old_string: z.string().min(1).optional().describe('patch: the text to replace; it has to occur exactly once, unless replace_all is set.'),
  new_string: z.string().optional().describe('patch: what takes its place.'),
  replace_all: z.boolean().default(false),
  file_path: z.string().min(1).max(500).optional().describe('write_file, remove_file, and patch of a file: a path such as references/api.md, below references, templates, scripts or assets.'),
  file_content: z.string().max(maxFileBytes).optional().describe('write_file: the whole text of the file.'),
});

type Args = z.output<typeof args>;

/** What a call would do. */
interface Plan {
  /** For the person who is asked, and for the model afterwards. */
  readonly subject: string;
  /** What would be read later. */
  readonly text?: string;
  carryOut(): Promise<void>;
}

const needed = <T>(value: T | undefined, key: string, action: string): T => {
  if (value === undefined) throw new ToolError('bad_arguments', `${action} needs ${key}.`);
  return value;
};

const writeText = async (path: string, text: string): Promise<void> => {
  const staged = await stageFile(path, Buffer.from(text, 'utf8'), undefined);
  await staged.commit();
};

const checkText = (text: string, name: string, folder: string): void => {
  const read = parseSkill(text, folder);
  if (!read.ok) throw new ToolError('bad_arguments', `This is no SKILL.md: ${read.reason}.`);
  if (read.skill.name !== name) throw new ToolError('bad_arguments', `The SKILL.md names itself ${read.skill.name}, but the skill is called ${name}.`);
  if (read.skill.body === '') throw new ToolError('bad_arguments', 'The SKILL.md has no instructions below its YAML.');
};

const ownSkill = (library: SkillLibrary, name: string): Skill => {
  const skill = findSkill(library, name);
  if (!skill.writable) throw new ToolError('unavailable', `The skill ${name} lies in ${skill.folder}, which is only read. Create a skill of another name instead.`);
  return skill;
};

const planCreate = (deps: SkillManageDeps, { name, category, content }: Args): Plan => {
  const text = needed(content, 'content', 'create');
  if (deps.library.find(name) !== undefined) throw new ToolError('bad_arguments', `There is a skill ${name} already. Change it with edit or patch.`);
  checkText(text, name, name);
  const carryOut = async (): Promise<void> => {
    await mkdir(deps.library.ownFolder, { recursive: true, mode: 0o700 });
    const parts = [...(category === undefined ? [] : [category]), name, 'SKILL.md'];
    const { path, exists } = await realInside(await realpath(deps.library.ownFolder), parts, parts.join('/'));
    if (exists) throw new ToolError('failed', `There is a ${path} already, which could not be read as a skill. The owner has to look at it.`);
    await writeText(path, text);
  };
  return { subject: `create the skill ${name}`, text, carryOut };
};

const planWrite = async (skill: Skill, filePath: string, text: string): Promise<Plan> => {
  const { path } = await writableSkillFile(skill, filePath);
  if (Buffer.byteLength(text) > maxFileBytes) throw new ToolError('bad_arguments', `The file would have more than ${maxFileBytes} bytes.`);
  if (filePath === 'SKILL.md') checkText(text, skill.name, basename(skill.folder));
  return { subject: `write ${filePath} of the skill ${skill.name}`, text, carryOut: () => writeText(path, text) };
};

const planPatch = async (skill: Skill, given: Args): Promise<Plan> => {
  const filePath = given.file_path ?? 'SKILL.md';
  const [from, to] = [needed(given.old_string, 'old_string', 'patch'), needed(given.new_string, 'new_string', 'patch')];
  await writableSkillFile(skill, filePath);
  const before = await readSkillFile(skill, filePath);
  const places = before.split(from).length - 1;
  if (places === 0) throw new ToolError('bad_arguments', `${filePath} does not contain old_string. Read it with skill_view and copy the text exactly.`);
  if (places > 1 && !given.replace_all) throw new ToolError('bad_arguments', `${filePath} contains old_string ${places} times. Give more of its surroundings, or set replace_all.`);
  return planWrite(skill, filePath, before.replaceAll(from, () => to));
};

const planRemoveFile = async (skill: Skill, filePath: string): Promise<Plan> => {
  const { path, exists } = await writableSkillFile(skill, filePath);
  if (filePath === 'SKILL.md') throw new ToolError('bad_arguments', 'A skill without SKILL.md is none. Use delete to remove the whole skill.');
  if (!exists) throw new ToolError('bad_arguments', `The skill ${skill.name} has no file ${filePath}.`);
  return { subject: `remove ${filePath} of the skill ${skill.name}`, carryOut: () => removeFile(path) };
};

const planDelete = (skill: Skill, library: SkillLibrary): Plan => ({
  subject: `delete the skill ${skill.name}`,
  async carryOut() {
    const [root, parent] = await Promise.all([realpath(library.ownFolder), realpath(dirname(skill.folder))]);
    const folder = join(parent, basename(skill.folder));
    if (folder !== skill.folder || !folder.startsWith(join(root, '/'))) throw new ToolError('failed', `The skill ${skill.name} is no longer where it was. Try again after /reload-skills.`);
    await rm(folder, { recursive: true });
  },
});

const planFor = async (deps: SkillManageDeps, given: Args): Promise<Plan> => {
  const { action, name } = given;
  switch (action) {
    case 'create':
      return planCreate(deps, given);
    case 'edit':
      return planWrite(ownSkill(deps.library, name), 'SKILL.md', needed(given.content, 'content', action));
    case 'patch':
      return planPatch(ownSkill(deps.library, name), given);
    case 'write_file':
      return planWrite(ownSkill(deps.library, name), needed(given.file_path, 'file_path', action), needed(given.file_content, 'file_content', action));
    case 'remove_file':
      return planRemoveFile(ownSkill(deps.library, name), needed(given.file_path, 'file_path', action));
    case 'delete':
      return planDelete(ownSkill(deps.library, name), deps.library);
    default:
      return action satisfies never;
  }
};

const permit = async (deps: SkillManageDeps, plan: Plan, call: { readonly context: ToolContext; readonly signal: AbortSignal }): Promise<void> => {
  const suspicion = plan.text === undefined ? undefined : deps.scan(plan.text);
  if (suspicion !== undefined) throw new ToolError('bad_arguments', `Nothing was written: the text ${suspicion}. Skills steer later conversations and must not hold such things.`);
  if (!deps.needsApproval()) return;
  const request = { tool: 'skill_manage', subject: plan.subject, reasons: ['changes what the agent does in later conversations'], pattern: 'skill_manage' };
  const verdict = await deps.approve(request, call.context, call.signal);
  if (!verdict.allowed) throw new ToolError('failed', `Nothing was changed: ${verdict.reason}`);
};

/** Lets the agent keep what it has learned as instructions for later. */
export const skillManageTool = (deps: SkillManageDeps): Tool =>
  defineTool({
    name: 'skill_manage',
    description:
      'Writes skills: instructions for recurring work that you find again in later conversations. Create one when you have found out how something is done here and it will be needed again; correct one with patch as soon as it turns out to be wrong.',
    args,
    async run(given, context, signal) {
      const plan = await planFor(deps, given);
      await permit(deps, plan, { context, signal });
      signal.throwIfAborted();
      await plan.carryOut();
      await deps.library.reload();
      return `Done: ${plan.subject}. It counts from the next conversation on; skill_view shows it now.`;
    },
  });
