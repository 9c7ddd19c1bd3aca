import { existsSync } from 'node:fs';
import { isKernelLocked, takeKernelLock } from '../../lib/kernel-lock.ts';
import type { KernelLock } from '../../lib/kernel-lock.ts';
import { sqliteError } from '../engines/sqlite-dialect.ts';

export type FileLock = KernelLock;

/** A lock that the kernel holds for this process on a small file of its own. Undefined when another has it; what else is wrong is a `StoreError`. */
export const lockFile = (path: string): FileLock | undefined => {
  try {
    return takeKernelLock(path);
  } catch (error) {
    throw sqliteError(error);
  }
};

/** Whether a process has the lock right now. Looking makes no file. */
export const isLocked = (path: string): boolean => {
  if (!existsSync(path)) return false;
  try {
    return isKernelLocked(path);
  } catch (error) {
    throw sqliteError(error);
  }
};
