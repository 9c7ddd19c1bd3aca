import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { maxSkillChars, parseSkill } from './parse-skill.ts';
import type { SkillText } from './parse-skill.ts';

/** A folder below which skills lie. */
export interface SkillRoot {
  readonly folder: string;
  /** The agent may write here. */
  readonly writable: boolean;
}

export interface Skill extends SkillText {
  /** Real and absolute. */
  readonly folder: string;
  readonly writable: boolean;
}

/** A SKILL.md that cannot be used, and why. */
export interface BrokenSkill {
  readonly path: string;
  readonly reason: string;
}

export interface SkillShelf {
  /** By name, in order; each name once. */
  readonly skills: readonly Skill[];
  readonly broken: readonly BrokenSkill[];
}

const fileName = 'SKILL.md';
const maxDepth = 3;
const maxSkills = 1_000;
/** UTF-8 has at most three bytes for a UTF-16 unit. */
const maxSkillBytes = maxSkillChars * 3;

const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

/** What the file system refuses is a reason and no failure: one bad folder does not take the others away. */
const unlessRefused = async <T>(path: string, work: Promise<T>): Promise<T | BrokenSkill> => {
  try {
    return await work;
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    return { path, reason: `it cannot be read (${code})` };
  }
};

const isBroken = (value: object): value is BrokenSkill => 'reason' in value;

/** Folders with a SKILL.md; links are not followed, and nothing is looked for inside a skill or in hidden folders. */
const findFolders = async (folder: string, depth: number): Promise<readonly (string | BrokenSkill)[]> => {
  const entries = await unlessRefused(folder, readdir(folder, { withFileTypes: true }));
  if (isBroken(entries)) return [entries];
  if (entries.some((entry) => entry.isFile() && entry.name === fileName)) return [folder];
  const found: (string | BrokenSkill)[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (depth === 0 || found.length >= maxSkills) break;
    if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules') found.push(...(await findFolders(join(folder, entry.name), depth - 1)));
  }
  return found;
};

const realFolder = async (folder: string): Promise<string | undefined> => {
  try {
    return await realpath(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const loadOne = async (folder: string, root: SkillRoot): Promise<Skill | BrokenSkill> => {
  const path = join(folder, fileName);
  const { size } = await stat(path);
  if (size > maxSkillBytes) return { path, reason: `it has ${size} bytes, which is too long` };
  const read = parseSkill(await readFile(path, 'utf8'), basename(folder));
  if (!read.ok) return { path, reason: read.reason };
  const [category] = relative(root.folder, folder).split(sep).slice(0, -1);
  return { ...read.skill, category: read.skill.category ?? category, folder, writable: root.writable };
};

const loadRoot = async (root: SkillRoot): Promise<readonly (Skill | BrokenSkill)[]> => {
  const folder = await realFolder(root.folder);
  if (folder === undefined) return [];
  const loaded: (Skill | BrokenSkill)[] = [];
  for (const found of await findFolders(folder, maxDepth)) {
    loaded.push(typeof found === 'string' ? await unlessRefused(join(found, fileName), loadOne(found, { ...root, folder })) : found);
  }
  return loaded;
};

/** Reads every skill below the roots. Of two with one name the one in the earlier root counts, and the other is reported. */
export const loadSkills = async (roots: readonly SkillRoot[]): Promise<SkillShelf> => {
  const skills = new Map<string, Skill>();
  const broken: BrokenSkill[] = [];
  for (const loaded of (await Promise.all(roots.map(loadRoot))).flat()) {
    const first = isBroken(loaded) ? undefined : skills.get(loaded.name);
    if (isBroken(loaded)) broken.push(loaded);
    else if (first === undefined) skills.set(loaded.name, loaded);
    else broken.push({ path: join(loaded.folder, fileName), reason: `there is another skill named ${loaded.name}, in ${first.folder}` });
  }
  return { skills: [...skills.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), broken };
};
