import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteError } from './sqlite-dialect.ts';

/** Held for the life of the process and released by the kernel when it dies, however it dies. */
export interface HomeLock {
  release(): void;
}

/**
 * The lock that makes one gateway the only one in a home. It is an exclusive lock of the operating system on a small file, taken
 * through SQLite because Node has no call for it. Undefined when another process has it.
 */
export const lockHome = (home: string): HomeLock | undefined => {
  const path = join(home, 'gateway.lock');
  let db: DatabaseSync | undefined;
  try {
    const held = new DatabaseSync(path, { timeout: 0 });
    db = held;
    held.exec('pragma locking_mode = exclusive');
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
