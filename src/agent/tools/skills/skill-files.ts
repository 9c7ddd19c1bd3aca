import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../contract.ts';
import { openFile } from '../files/open-file.ts';
import type { Skill } from './load-skills.ts';

/** Folders of a skill in which files may be put. */
export const skillFolders: readonly string[] = ['references', 'templates', 'scripts', 'assets'];

export const maxFileBytes = 1024 * 1024;
const maxListed = 200;
const maxDepth = 4;

const pathParts = (path: string): readonly string[] => {
  const parts = path.replaceAll('\\', '/').split('/');
  const bad = parts.some((part) => part === '' || part === '..' || part === '.' || part.startsWith('.') || /\p{Cc}/u.test(part));
  if (bad) throw new ToolError('bad_arguments', `${JSON.stringify(path.slice(0, 200))} is no path inside a skill. Write for example references/api.md.`);
  return parts;
};

const kindOf = async (path: string): Promise<'missing' | 'folder' | 'file' | 'other'> => {
  try {
    const stats = await lstat(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
};

/** The real path of a file inside a folder that has no link in its path; nothing on the way to it may be a link either. */
export const realInside = async (folder: string, parts: readonly string[], shown: string): Promise<{ readonly path: string; readonly exists: boolean }> => {
  let path = folder;
  for (const [index, part] of parts.entries()) {
    path = join(path, part);
    const kind = await kindOf(path);
    if (kind === 'missing') return { path: join(folder, ...parts), exists: false };
    if (kind !== (index === parts.length - 1 ? 'file' : 'folder')) throw new ToolError('bad_arguments', `${shown} is no ordinary file of the skill.`);
  }
  return { path, exists: true };
};

/** A file of a skill as it can be read. */
export const readSkillFile = async (skill: Skill, filePath: string): Promise<string> => {
  const { path, exists } = await realInside(skill.folder, pathParts(filePath), filePath);
  if (!exists) throw new ToolError('bad_arguments', `The skill ${skill.name} has no file ${filePath}. It has: ${(await listSkillFiles(skill)).join(', ') || 'none'}.`);
  const { handle, stats } = await openFile(path, filePath);
  try {
    if (stats.size > BigInt(maxFileBytes)) throw new ToolError('failed', `${filePath} is too long (${stats.size} bytes). It lies in ${path}; read parts of it with read_file.`);
    const bytes = await handle.readFile();
    if (bytes.includes(0)) throw new ToolError('failed', `${filePath} is no text. It lies in ${path}.`);
    return bytes.toString('utf8');
  } finally {
    await handle.close();
  }
};

/** Where a file of a skill may be written or removed. */
export const writableSkillFile = (skill: Skill, filePath: string): Promise<{ readonly path: string; readonly exists: boolean }> => {
  const parts = pathParts(filePath);
  if (parts.length === 1 && parts[0] === 'SKILL.md') return realInside(skill.folder, parts, filePath);
  if (parts.length < 2 || !skillFolders.includes(parts[0] ?? '')) throw new ToolError('bad_arguments', `Files of a skill go into ${skillFolders.join(', ')}; ${JSON.stringify(filePath)} does not.`);
  return realInside(skill.folder, parts, filePath);
};

/** Ordinary files below a folder; what is hidden or a link is passed over. */
const filesBelow = async (folder: string, depth: number): Promise<readonly string[]> => {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.name.startsWith('.')).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.isFile()) found.push(entry.name);
    else if (entry.isDirectory() && depth > 0) found.push(...(await filesBelow(join(folder, entry.name), depth - 1)).map((path) => `${entry.name}/${path}`));
    if (found.length > maxListed) break;
  }
  return found;
};

/** The files of a skill besides its SKILL.md, as paths that `skill_view` takes. */
export const listSkillFiles = async (skill: Skill): Promise<readonly string[]> => (await filesBelow(skill.folder, maxDepth)).filter((path) => path !== 'SKILL.md').slice(0, maxListed);
