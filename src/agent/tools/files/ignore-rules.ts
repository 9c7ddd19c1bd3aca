import { readGlob } from './glob.ts';

interface IgnoreRule {
  readonly pattern: RegExp;
  /** The whole path below the folder is compared, not only the name. */
  readonly anchored: boolean;
  readonly folderOnly: boolean;
  readonly negated: boolean;
}

/** The rules of one .gitignore file, and the folder it lies in. */
export interface IgnoreFile {
  readonly folder: string;
  readonly rules: readonly IgnoreRule[];
}

const maxRules = 2000;

const ruleOf = (line: string): IgnoreRule | undefined => {
  const text = line.replace(/(?<!\\)[ \t\r]+$/, '');
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  const body = (negated ? text.slice(1) : text).replace(/^\\(?=[#!])/, '');
  const folderOnly = body.endsWith('/');
  const path = folderOnly ? body.slice(0, -1) : body;
  if (path === '' || path === '/') return undefined;
  const pattern = readGlob(path.replace(/^\//, ''));
  return pattern === undefined ? undefined : { pattern, anchored: path.includes('/'), folderOnly, negated };
};

export const parseIgnoreFile = (folder: string, text: string): IgnoreFile => ({
  folder,
  rules: text.split('\n').slice(0, maxRules).map(ruleOf).filter((rule) => rule !== undefined),
});

/** Whether git would leave it out. Files of inner folders come last and win; in one file the last rule that fits wins. */
export const isIgnored = (path: string, isFolder: boolean, files: readonly IgnoreFile[]): boolean => {
  for (const { folder, rules } of files.toReversed()) {
    const below = path.slice(folder.endsWith('/') ? folder.length : folder.length + 1);
    const name = below.slice(below.lastIndexOf('/') + 1);
    const rule = rules.findLast(({ pattern, anchored, folderOnly }) => (isFolder || !folderOnly) && pattern.test(anchored ? below : name));
    if (rule !== undefined) return !rule.negated;
  }
  return false;
};
