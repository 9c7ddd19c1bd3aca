import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const isWindows = process.platform === 'win32';

const syncPath = async (path: string, flags: string): Promise<void> => {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Shares and file systems of other worlds have no such thing. */
const unlessUnknown = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error;
};

/** What was made, renamed and removed in a folder is so after a crash too. Windows cannot sync a folder and does not need it for a rename to last. */
export const syncFolder = async (folder: string): Promise<void> => {
  if (!isWindows) await syncPath(folder, 'r').catch(unlessUnknown);
};

/** What is in a file is there after a crash too. */
export const syncFile = (file: string): Promise<void> => syncPath(file, isWindows ? 'r+' : 'r');

/** The same for a file, or a folder with everything below it. Links have nothing of their own to lose. */
export const syncTree = async (path: string): Promise<void> => {
  const facts = await lstat(path);
  if (facts.isFile()) return syncFile(path);
  if (!facts.isDirectory()) return;
  for (const name of await readdir(path)) await syncTree(join(path, name));
  await syncFolder(path);
};
