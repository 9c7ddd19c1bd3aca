import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolError } from '../contract.ts';
import { fileProblem, systemCode } from './file-problem.ts';
import type { TwoPaths } from './path-policy.ts';

export interface FoundPath extends TwoPaths {
  readonly exists: boolean;
}

export interface PathBase {
  /** Where a relative path begins. */
  readonly workdir: string;
  /** What `~` stands for. */
  readonly userHome: string;
}

const maxPathChars = 4096;

const refuse = (text: string, why: string): ToolError => new ToolError('bad_arguments', `The path ${JSON.stringify(text.slice(0, 200))} ${why}.`);

/** The absolute path that was meant, without asking the file system. */
export const absolutePath = (text: string, { workdir, userHome }: PathBase): string => {
  if (text.trim() === '') throw refuse(text, 'is empty');
  if (text.length > maxPathChars) throw refuse(text, 'is too long');
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) throw refuse(text, 'has characters that no path has');
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) throw refuse(text, 'is an address, not a path');
  if (/^~[^/\\]/.test(text)) throw refuse(text, "names another user's folder; write the whole path");
  return text.startsWith('~') ? join(userHome, text.slice(1)) : resolve(workdir, text);
};

const isThere = async (path: string): Promise<boolean> => {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw fileProblem(error, path);
  }
};

/** Follows every link. What does not exist yet lies where its nearest existing folder really is; a link to nothing is refused. */
export const findRealPath = async (lexical: string): Promise<FoundPath> => {
  const missing: string[] = [];
  let at = lexical;
  for (;;) {
    try {
      const real = join(await realpath(at), ...missing);
      return { lexical, real, exists: missing.length === 0 };
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw fileProblem(error, lexical);
      if (await isThere(at)) throw new ToolError('failed', `${at} is a link to something that does not exist.`, { cause: error });
      missing.unshift(basename(at));
      at = dirname(at);
    }
  }
};
