import { chmodSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { slept } from './clock.ts';
import type { Clock } from './clock.ts';
import { giveToOwnerSync } from './give-to-owner.ts';

/** Held until it is released, or until the process dies, however it dies: the kernel takes it back. */
export interface KernelLock {
  release(): void;
}

/** https://www.sqlite.org/rescode.html#busy */
const busyCode = 5;

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === busyCode;

/** Closed to others, and not root's in somebody's folder: that must not keep them from it later. Where a link leads is left as it is: root does not do to it what whoever laid the link could not. */
const keepClosed = (path: string): void => {
  if (lstatSync(path).isSymbolicLink()) return;
  chmodSync(path, 0o600);
  giveToOwnerSync(path, dirname(path));
};

/**
 * An exclusive lock of the operating system on a small file of its own, taken through SQLite because Node has no call for it. Undefined when somebody has it, in
 * this process or another. The file stays: whoever removed it would let two have the lock.
 */
export const takeKernelLock = (path: string): KernelLock | undefined => {
  let db: DatabaseSync | undefined;
  try {
    const held = new DatabaseSync(path, { timeout: 0 });
    db = held;
    held.exec('pragma locking_mode = exclusive');
    // Nothing is ever written, so nothing has to be kept beside it.
    held.exec('pragma journal_mode = memory');
    held.exec('begin exclusive');
    keepClosed(path);
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
};

/** Whether somebody has the lock right now. It is a look of its own kind: those who only look neither see each other nor, as whoever would take the lock for a moment, pass for its holder. */
export const isKernelLocked = (path: string): boolean => {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 0, readOnly: true });
    db.prepare('select 1 from sqlite_master').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db?.close();
  }
};

export interface LockPatience {
  readonly clock: Clock;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

const everyMs = 25;

/** The same for whoever waits for those before; undefined when they take longer than that, or when it is no longer wanted. */
export const awaitKernelLock = async (path: string, { clock, waitMs, signal }: LockPatience): Promise<KernelLock | undefined> => {
  for (const untilMs = clock.now() + waitMs; ; ) {
    const lock = takeKernelLock(path);
    if (lock !== undefined || clock.now() >= untilMs) return lock;
    if (!(await slept(clock, everyMs, signal))) return undefined;
  }
};
