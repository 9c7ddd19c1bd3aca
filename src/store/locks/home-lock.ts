import { join } from 'node:path';
import { isLocked, lockFile } from './file-lock.ts';
import type { FileLock } from './file-lock.ts';

const fileOf = (home: string): string => join(home, 'gateway.lock');

/** The lock that makes one gateway the only one in a home. Undefined when another process has it. */
export const lockHome = (home: string): FileLock | undefined => lockFile(fileOf(home));

/** Whether a gateway, or a terminal that hosts one, has this home right now. Looking makes no file. */
export const isHomeTaken = (home: string): boolean => isLocked(fileOf(home));
