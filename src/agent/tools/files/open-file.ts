import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { lstat, open, readlink, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { ToolError } from '../contract.ts';
import { fileProblem, systemCode } from './file-problem.ts';

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Where what is open really is, as the kernel sees it; nothing where the system does not tell. */
export const kernelPath = async (handle: FileHandle): Promise<string | undefined> => {
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
};

/** True when nobody has put something else in the place of `real` between the decision about it and its opening. */
export const isStillAt = async (handle: FileHandle, real: string): Promise<boolean> => {
  const where = await kernelPath(handle);
  if (where !== undefined) return where === real;
  const [stats, there, path] = await Promise.all([handle.stat({ bigint: true }), lstat(real, { bigint: true }), realpath(real)]);
  return path === real && there.dev === stats.dev && there.ino === stats.ino;
};

/** For Windows, which has neither. */
const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens an ordinary file at a path without links, and makes sure that it is the file that lies there. The caller closes it. */
export const openFile = async (real: string, shown: string): Promise<OpenFile> => {
  let handle: FileHandle | undefined;
  try {
    handle = await open(real, readOnly);
    const stats = await handle.stat({ bigint: true });
    if (stats.isDirectory()) throw new ToolError('bad_arguments', `${shown} is a folder. Use search_files with target "files" to see what is in it.`);
    if (!stats.isFile()) throw new ToolError('bad_arguments', `${shown} is not an ordinary file.`);
    if (!(await isStillAt(handle, real))) throw new ToolError('failed', `${shown} was replaced while it was being opened. Try again.`);
    return { handle, stats };
  } catch (error) {
    await handle?.close();
    throw fileProblem(error, shown);
  }
};
