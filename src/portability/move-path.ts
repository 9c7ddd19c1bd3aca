import { cp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { giveToOwner, makeFolders } from '../lib/give-to-owner.ts';
import { syncFolder, syncTree } from '../lib/sync-folder.ts';

/** What was copied elsewhere, until it is removed. */
export const movedAway = (path: string): string => join(dirname(path), `.restore-old-${basename(path)}`);

/** At every moment whatever stands at one of the two places is whole. */
const moveByCopy = async (from: string, to: string): Promise<void> => {
  const partial = join(dirname(to), `.restore-new-${basename(to)}`);
  try {
    await rm(partial, { recursive: true, force: true });
    await cp(from, partial, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await giveToOwner(partial, dirname(to));
    await syncTree(partial);
    await rename(partial, to);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  try {
    await syncFolder(dirname(to));
    await rename(from, movedAway(from));
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
  await rm(movedAway(from), { recursive: true, force: true });
};

/** Moves a file or a folder to where nothing is, to another disk too. When it rejects, everything is where it was. */
export const movePath = async (from: string, to: string): Promise<void> => {
  await makeFolders(dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EBUSY') throw new ConfigError(`${from} cannot be moved, because another disk is mounted there or another program uses it. End that, and try again.`, { cause: error });
    if (code !== 'EXDEV') throw error;
    await moveByCopy(from, to);
  }
};
