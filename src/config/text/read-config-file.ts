import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { problemAt } from '../problem.ts';
import type { Problem } from '../problem.ts';

export type ConfigFile =
  | { readonly kind: 'missing' }
  /** `mode`: what others may do with it, as far as they come to it. */
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'unreadable'; readonly problem: Problem };

/** Far beyond any configuration written by people; what is larger was put there by mistake. */
export const maxFileBytes = 1024 * 1024;

const unreadable = (path: string, message: string): ConfigFile => ({
  kind: 'unreadable',
  problem: problemAt({ kind: 'file', file: basename(path), line: 1, column: 1, path: [] }, [], { code: 'unreadable', message }),
});

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'cannot be read: its links go in a circle',
  EISDIR: 'is a folder, not a file',
};

/** Whoever cannot enter the folder that a file really lies in cannot read it, whatever its own mode says. */
const reachableMode = async (path: string, mode: number): Promise<number> => {
  const folder = (await stat(dirname(await realpath(path)))).mode;
  return mode & ~((folder & 0o010) === 0 ? 0o070 : 0) & ~((folder & 0o001) === 0 ? 0o007 : 0);
};

/** UTF-8 text with or without a byte order mark; anything else is a problem of the file, never an exception. */
export const readConfigFile = async (path: string): Promise<ConfigFile> => {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) return unreadable(path, facts.isDirectory() ? 'is a folder, not a file' : 'is not a file');
    if (facts.size > maxFileBytes) return unreadable(path, `is larger than ${maxFileBytes / 1024} KiB; this is not a configuration file`);
    return decode(path, await readFile(path), await reachableMode(path, facts.mode));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return { kind: 'missing' };
    if (code === undefined) throw error;
    return unreadable(path, reasons[code] ?? `cannot be read (${code})`);
  }
};

const decode = (path: string, bytes: Buffer, mode: number): ConfigFile => {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return unreadable(path, 'is UTF-16 text; save it as UTF-8');
  if (bytes.includes(0)) return unreadable(path, 'is not a text file (it contains zero bytes)');
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), mode };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return unreadable(path, 'is not UTF-8 text');
  }
};
