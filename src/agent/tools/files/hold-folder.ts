import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../contract.ts';
import { isStillAt, kernelPath } from './open-file.ts';

/** A folder in which something is about to be written. */
export interface HeldFolder {
  /** The path of a name in it, for calls of the file system. */
  path(name: string): string;
  /** Makes renames last. */
  sync(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Holds a folder at a path without links. Where the kernel offers it (Linux), names are looked up in the folder that is held, so that a
 * link put in its place afterwards leads nobody elsewhere.
 */
export const holdFolder = async (real: string): Promise<HeldFolder> => {
  // Windows cannot open a folder, and needs no sync for a rename to last.
  if (process.platform === 'win32') return { path: (name) => join(real, name), sync: async () => undefined, release: async () => undefined };
  const handle = await open(real, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (!(await isStillAt(handle, real))) throw new ToolError('failed', `${real} was replaced while it was being opened. Try again.`);
    const anchor = (await kernelPath(handle)) === undefined ? real : `/proc/self/fd/${handle.fd}`;
    return { path: (name) => join(anchor, name), sync: () => handle.sync(), release: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
};
