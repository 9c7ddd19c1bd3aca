import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Of the files and folders with names of this form, which hold the time that they were made, only the newest `count` stay. Answers the names of those that went. */
export const keepNewest = async (folder: string, form: RegExp, count: number): Promise<readonly string[]> => {
  const old = (await namesIn(folder)).filter((name) => form.test(name)).toSorted().toReversed().slice(count);
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  return old;
};

/** A folder that is not there has nothing in it. */
export const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};
