import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { slept } from './clock.ts';
import type { Clock } from './clock.ts';

/** Held until it is released, or until the process dies, however it dies: the kernel takes it back. */
export interface KernelLock {
  release(): void;
}

/** https://www.sqlite.org/rescode.html#busy */
const busyCode = 5;

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === busyCode;

/** What root makes in somebody's folder must not keep them from it later. */
const giveToOwner = (path: string): void => {
  chmodSync(path, 0o600);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
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
    giveToOwner(path);
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
