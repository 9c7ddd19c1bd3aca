import { join } from 'node:path';
import { lockFile } from './file-lock.ts';
import type { FileLock } from './file-lock.ts';

/** The lock that makes one gateway the only one in a home. Undefined when another process has it. */
export const lockHome = (home: string): FileLock | undefined => lockFile(join(home, 'gateway.lock'));
