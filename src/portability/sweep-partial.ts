import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import { namesIn } from '../lib/keep-newest.ts';
import { lockFile } from '../store/locks/file-lock.ts';
import type { FileLock } from '../store/locks/file-lock.ts';

const lockName = '.lock';

/** Not every file system has locks; there only the time tells who is at work. */
const noLock: FileLock = { release: () => undefined };

/** Undefined when another process has it. */
const takeLock = (folder: string): FileLock | undefined => {
  try {
    return lockFile(join(folder, lockName));
  } catch (error) {
    if (error instanceof StoreError) return noLock;
    throw error;
  }
};

/** Whoever fills such a folder holds it, so that nobody takes it for one that was left behind. */
export const holdPartial = (folder: string): FileLock => takeLock(folder) ?? noLock;

/** Longer than anybody who is at work leaves such a folder alone. */
const leftAloneMs = 3_600_000;

const isHeld = (folder: string): boolean => {
  if (!existsSync(join(folder, lockName))) return false;
  const lock = takeLock(folder);
  lock?.release();
  return lock === undefined;
};

const newestMs = async (folder: string): Promise<number> => {
  const names = await readdir(folder, { recursive: true });
  const times = await Promise.all([folder, ...names.map((name) => join(folder, name))].map(async (path) => (await stat(path)).mtimeMs));
  return Math.max(...times);
};

const isLeft = async (folder: string, nowMs: number): Promise<boolean> => {
  try {
    return nowMs - (await newestMs(folder)) > leftAloneMs && !isHeld(folder);
  } catch (error) {
    // Whoever filled it is done, or it is no folder.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
};

/** Removes what backups and restores that were killed have left in a folder. Answers the names. */
export const sweepPartial = async (folder: string, nowMs: number): Promise<readonly string[]> => {
  const swept: string[] = [];
  for (const name of await namesIn(folder)) {
    if (!/^\.(?:partial|restore)-/.test(name) || !(await isLeft(join(folder, name), nowMs))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
    swept.push(name);
  }
  return swept;
};
