import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { blockedNotice, scanForInjection } from './injection-scan.ts';
import type { ScanScope } from './injection-patterns.ts';

/** A file of instructions, as the model may read it. */
export interface ContextFile {
  /** Relative to the folder it was looked for in. */
  readonly name: string;
  readonly text: string;
}

const maxChars = 20_000;
/** Enough for `maxChars` of any script at either end. */
const maxEndBytes = 64 * 1024;
const mostRules = 20;
const mostLevels = 64;

/** Looked for in the folder and above it, up to where its repository begins. */
const ownNames = ['.hermes.md', 'HERMES.md'] as const;
/** Looked for in the folder itself. The first kind that is there is the only one. */
const foreignNames = ['AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules'] as const;
const rulesFolder = join('.cursor', 'rules');

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const orMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const readPart = async (path: string): Promise<string | undefined> => {
  const file = await orMissing(open(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const part = async (position: number, length: number): Promise<Buffer> => (await file.read(Buffer.alloc(length), 0, length, position)).buffer;
    if (size <= maxEndBytes * 2) return (await part(0, size)).toString('utf8');
    return `${(await part(0, maxEndBytes)).toString('utf8')}\n${(await part(size - maxEndBytes, maxEndBytes)).toString('utf8')}`;
  } finally {
    await file.close();
  }
};

/** What stands between two lines of dashes at the start is for programs. */
const withoutFrontmatter = (text: string): string => text.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---\r?\n/, '');

/** The head and the tail of an overlong text say more than its head alone. */
export const boundContext = (text: string): string => {
  const clean = text.trim();
  if (clean.length <= maxChars) return clean.toWellFormed();
  return `${clean.slice(0, maxChars * 0.7).toWellFormed().trim()}\n\n[… shortened …]\n\n${clean.slice(-maxChars * 0.2).toWellFormed().trim()}`;
};

/** A link of a repository must not lead to a file outside it. */
const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !/^([A-Za-z]:)?[\\/]/.test(way));
};

/** Undefined when there is no such file, when it is empty, or when it leads out of `root`. */
const readChecked = async (path: string, scope: ScanScope, root?: string): Promise<{ readonly text: string; readonly blocked: boolean } | undefined> => {
  const real = await orMissing(realpath(path));
  if (real === undefined || (root !== undefined && !isInside(root, real)) || (await orMissing(stat(real)))?.isFile() !== true) return undefined;
  const raw = await readPart(real);
  if (raw === undefined || raw.includes('\0')) return undefined;
  const text = boundContext(withoutFrontmatter(raw));
  if (text === '') return undefined;
  const findings = scanForInjection(text, scope);
  return findings.length === 0 ? { text, blocked: false } : { text: blockedNotice(basename(path), findings), blocked: true };
};

/** The folder and those above it, up to the root of its repository; only the folder itself when it belongs to none, or to one that goes beyond `ceiling`. */
const foldersUpwards = async (workdir: string, ceiling: string | undefined): Promise<readonly string[]> => {
  const folders: string[] = [];
  for (let folder = workdir; folders.length < mostLevels; folder = dirname(folder)) {
    folders.push(folder);
    if ((await orMissing(stat(join(folder, '.git')))) !== undefined) return folders;
    if (dirname(folder) === folder || folder === ceiling) break;
  }
  return [workdir];
};

const readRules = async (root: string, workdir: string): Promise<string | undefined> => {
  const names = ((await orMissing(readdir(join(workdir, rulesFolder)))) ?? []).filter((name) => name.endsWith('.mdc')).toSorted().slice(0, mostRules);
  const texts: string[] = [];
  for (const name of names) {
    const found = await readChecked(join(workdir, rulesFolder, name), 'context', root);
    if (found !== undefined) texts.push(found.text);
  }
  return texts.length === 0 ? undefined : boundContext(texts.join('\n\n'));
};

/**
 * What a project says about working in it: one kind of file, the first that is found. A file that speaks like an attacker is replaced by a notice that says so. The
 * same files give the same bytes. Nothing above `ceiling` is read where the folder lies in it.
 */
export const readProjectContext = async (folder: string, ceiling?: string): Promise<ContextFile | undefined> => {
  const workdir = await orMissing(realpath(folder));
  if (workdir === undefined) return undefined;
  const folders = await foldersUpwards(workdir, ceiling === undefined ? undefined : await orMissing(realpath(ceiling)));
  const root = folders.at(-1) ?? workdir;
  const candidates = [...folders.flatMap((each) => ownNames.map((name) => join(each, name))), ...foreignNames.map((name) => join(workdir, name))];
  for (const path of candidates) {
    const found = await readChecked(path, 'context', root);
    if (found !== undefined) return { name: relative(workdir, path), text: found.text };
  }
  const rules = await readRules(root, workdir);
  return rules === undefined ? undefined : { name: rulesFolder, text: rules };
};

/** The owner's own words about who the agent is, or a notice why they cannot be used; neither when its home has none. */
export const readIdentity = async (home: string): Promise<{ readonly identity?: string; readonly notice?: string }> => {
  const found = await readChecked(join(home, 'SOUL.md'), 'all');
  if (found === undefined) return {};
  return found.blocked ? { notice: found.text } : { identity: found.text };
};
