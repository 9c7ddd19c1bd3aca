import { constants, closeSync, existsSync, fstatSync, lstatSync, openSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from './file-problem.ts';
import { guardVerdict, identityOf } from './guarded-files.ts';
import { isIgnored, parseIgnoreFile } from './ignore-rules.ts';
import type { IgnoreFile } from './ignore-rules.ts';
import { decidePath } from './path-policy.ts';
import type { SearchRequest } from './search-request.ts';

/** Folders that are no part of anybody's work. */
const skippedFolders: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules', '__pycache__', '.venv', '.tox', '.mypy_cache', '.pytest_cache', '.ruff_cache', '.gradle', '.terraform']);
const maxDepth = 64;
const maxIgnoreFileBytes = 65_536;

export interface Walk {
  readonly request: Pick<SearchRequest, 'root' | 'policy' | 'guarded'>;
  /** Counts what could not be looked at. */
  unreadable: number;
}

const mayRead = (path: string, { request }: Walk): boolean => decidePath({ lexical: path, real: path }, 'read', request.policy).type !== 'denied';

const orUnreadable = <T>(walk: Walk, look: () => T): T | undefined => {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    walk.unreadable += 1;
    return undefined;
  }
};

const ignoreFileIn = (folder: string): readonly IgnoreFile[] => {
  try {
    const path = join(folder, '.gitignore');
    const stats = lstatSync(path);
    return stats.isFile() && stats.size <= maxIgnoreFileBytes ? [parseIgnoreFile(folder, readFileSync(path, 'utf8'))] : [];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
};

/** The rules of the repository that a folder lies in, outermost first; the folder's own are not among them. */
const ignoreFilesAbove = (folder: string, walk: Walk): readonly IgnoreFile[] => {
  const found: IgnoreFile[] = [];
  let at = folder;
  while (!existsSync(join(at, '.git'))) {
    const parent = dirname(at);
    if (parent === at || !mayRead(parent, walk)) return [];
    at = parent;
    found.unshift(...ignoreFileIn(at));
  }
  return found;
};

const inOrder = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function* walkFolder(folder: string, outer: readonly IgnoreFile[], at: { readonly walk: Walk; readonly depth: number }): Generator<string> {
  const { walk, depth } = at;
  const entries = orUnreadable(walk, () => readdirSync(folder, { withFileTypes: true }));
  if (entries === undefined || depth > maxDepth) return;
  const ignoring = [...outer, ...ignoreFileIn(folder)];
  for (const entry of entries.toSorted(inOrder)) {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    if (!isFolder && !entry.isFile()) continue;
    if ((isFolder && skippedFolders.has(entry.name)) || isIgnored(path, isFolder, ignoring) || !mayRead(path, walk)) continue;
    if (isFolder) yield* walkFolder(path, ignoring, { walk, depth: depth + 1 });
    else yield path;
  }
}

/** Every file below the root that may be read and that git would not ignore, in a fixed order. Links are not followed. */
export function* walkFiles(walk: Walk): Generator<string> {
  const { root } = walk.request;
  const stats = orUnreadable(walk, () => lstatSync(root));
  if (stats === undefined) return;
  if (stats.isDirectory()) yield* walkFolder(root, ignoreFilesAbove(root, walk), { walk, depth: 0 });
  else if (mayRead(root, walk)) yield root;
}

/** When a file was last written; 0 when it is gone meanwhile. */
export const writtenMs = (path: string, walk: Walk): number => orUnreadable(walk, () => lstatSync(path).mtimeMs) ?? 0;

const whereOpen = (fd: number, path: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return realpathSync(path);
  }
};

const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Hands an open file to `look`, if it is still the file that the walk found and is no protected one under another name. */
export const withFile = <T>(path: string, walk: Walk, look: (fd: number) => T): T | undefined =>
  orUnreadable(walk, () => {
    const fd = openSync(path, flags);
    try {
      const stats = fstatSync(fd, { bigint: true });
      const verdict = guardVerdict(identityOf(stats), 'read', walk.request);
      return stats.isFile() && verdict?.type !== 'denied' && whereOpen(fd, path) === path ? look(fd) : undefined;
    } finally {
      closeSync(fd);
    }
  });
