import { randomBytes } from 'node:crypto';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { giveOpenFileToOwner } from './give-to-owner.ts';
import { nameFile } from './name-file.ts';
import { syncFolder } from './sync-folder.ts';

/** Whoever reads the file sees the old text or the new one, never a part; after a crash too. A link stays a link. Mode 0600. What root writes belongs to whoever has the folder. */
export const writeAtomically = async (path: string, text: string): Promise<void> => {
  const target = await realTarget(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await giveOpenFileToOwner(file, dirname(target));
      await file.writeFile(text, 'utf8');
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw nameFile(error, target);
  }
  await syncFolder(dirname(target));
};

const realTarget = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path;
    throw error;
  }
};
