import { randomBytes } from 'node:crypto';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, syncTree } from '../lib/sync-folder.ts';

/** Whether something of this name is there, a link to nowhere included. */
export const isThere = async (path: string): Promise<boolean> => {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
};

/** Files below a folder or the file itself, by their path in it. Links and what Python leaves behind are not among them. */
const filesBelow = async (path: string): Promise<readonly string[]> => {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1)).filter((name) => !/(?:^|[\\/])(?:__pycache__|\.git)[\\/]/.test(name)).toSorted();
};

const isSameFile = async (a: string, b: string): Promise<boolean> => (await stat(a)).size === (await stat(b)).size && (await readFile(a)).equals(await readFile(b));

/** Whether a file or folder has the same content as another. */
export const isSame = async (a: string, b: string): Promise<boolean> => {
  const [first, second] = [await stat(a), await stat(b)];
  if (first.isDirectory() !== second.isDirectory()) return false;
  if (!first.isDirectory()) return isSameFile(a, b);
  const [left, right] = [await filesBelow(a), await filesBelow(b)];
  if (left.join('\n') !== right.join('\n')) return false;
  for (const name of left) if (!(await isSameFile(join(a, name), join(b, name)))) return false;
  return true;
};

/** Whatever others could do with the file, here it is for its owner alone; one that can be run stays so. */
const copyOwn = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, ((await stat(from)).mode & 0o100) === 0 ? 0o600 : 0o700);
};

/** Copies a file or a folder to where nothing is; it is there whole or not at all, after a power cut too. Links in it are left out. */
export const copyWhole = async (from: string, to: string): Promise<void> => {
  const partial = join(dirname(to), `.partial-${randomBytes(6).toString('hex')}`);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    if ((await stat(from)).isDirectory()) {
      await mkdir(partial, { mode: 0o700 });
      for (const name of await filesBelow(from)) {
        await mkdir(dirname(join(partial, name)), { recursive: true, mode: 0o700 });
        await copyOwn(join(from, name), join(partial, name));
      }
    } else await copyOwn(from, partial);
    await syncTree(partial);
    await rename(partial, to);
    await syncFolder(dirname(to));
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
};
