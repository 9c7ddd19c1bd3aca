import { chmodSync, existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteError } from './sqlite-dialect.ts';

/** Held for the life of the process and released by the kernel when it dies, however it dies. */
export interface FileLock {
  release(): void;
}

/**
 * An exclusive lock of the operating system on a small file of its own, taken through SQLite because Node has no call for it. Undefined
 * when another process has it.
 */
export const lockFile = (path: string): FileLock | undefined => {
  let db: DatabaseSync | undefined;
  try {
    const held = new DatabaseSync(path, { timeout: 0 });
    db = held;
    held.exec('pragma locking_mode = exclusive');
    // Nothing is ever written, so nothing has to be kept beside it.
    held.exec('pragma journal_mode = memory');
    held.exec('begin exclusive');
    chmodSync(path, 0o600);
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    const failure = sqliteError(error);
    if (failure.code === 'busy') return undefined;
    throw failure;
  }
};

/** Whether a process has the lock right now. Looking makes no file. */
export const isLocked = (path: string): boolean => {
  if (!existsSync(path)) return false;
  const lock = lockFile(path);
  lock?.release();
  return lock === undefined;
};
