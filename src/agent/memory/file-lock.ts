import { randomUUID } from 'node:crypto';
import { open, readFile, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';

/** Who holds a lock, as it stands in the lock's file. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly nonce: string;
  readonly atMs: number;
}

export interface LockOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for others. */
  readonly waitMs?: number;
}

/** Somebody else has held the lock for too long. */
export class LockTimeout extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is held by somebody else`, options);
    this.name = 'LockTimeout';
  }
}

const defaultWaitMs = 5_000;
/** Whatever is done under a lock takes milliseconds: whoever holds it for so long is gone, even if its number is in use again. */
const longestHoldMs = 60_000;
const pollMs = 30;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** `unreadable`: it was made a moment ago and not written yet, or its maker died in between. */
const readHolder = async (path: string): Promise<Holder | 'gone' | 'unreadable'> => {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    const { pid, host, nonce, atMs } = holder;
    return typeof pid === 'number' && typeof host === 'string' && typeof nonce === 'string' && typeof atMs === 'number' ? { pid, host, nonce, atMs } : 'unreadable';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone';
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
};

const isDead = (holder: Holder, nowMs: number): boolean => (holder.host === hostname() && !isAlive(holder.pid)) || Math.abs(nowMs - holder.atMs) > longestHoldMs;

const unlinkIfThere = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
};

/**
 * Removes the lock of somebody who is gone. Two that find it at the same moment must not both remove: the second would remove the lock that the first has
 * taken since. So the right to remove this very lock is a lock itself.
 */
const removeLeftBehind = (path: string, nonce: string, options: LockOptions): Promise<void> =>
  withFileLock(`${path}.${nonce}`, options, async () => {
    const holder = await readHolder(path);
    if (holder !== 'gone' && (holder === 'unreadable' ? 'unreadable' : holder.nonce) === nonce) await unlinkIfThere(path);
  });

/** False when somebody has it. */
const tryTake = async (path: string, holder: Holder): Promise<boolean> => {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(holder));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};

const take = async (path: string, options: LockOptions): Promise<string> => {
  const { clock, signal, waitMs = defaultWaitMs } = options;
  const startedMs = clock.now();
  let unreadableSinceMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const mine: Holder = { pid: process.pid, host: hostname(), nonce: randomUUID(), atMs: clock.now() };
    if (await tryTake(path, mine)) return mine.nonce;
    const holder = await readHolder(path);
    if (holder === 'gone') continue;
    const nowMs = clock.now();
    unreadableSinceMs = holder === 'unreadable' ? (unreadableSinceMs ?? nowMs) : undefined;
    const left = holder === 'unreadable' ? nowMs - (unreadableSinceMs ?? nowMs) > waitMs / 2 : isDead(holder, nowMs);
    if (left) await removeLeftBehind(path, holder === 'unreadable' ? 'unreadable' : holder.nonce, options);
    else if (nowMs - startedMs > waitMs) throw new LockTimeout(path);
    else await clock.sleep(backoffMs(1, { baseMs: pollMs, capMs: pollMs }), signal);
  }
};

/**
 * Runs `work` while no other holder of the same path does, in this process or another one on this machine. The lock of a process that died is taken over.
 * `isHeld` says whether the lock is still ours, for whoever was held up in the middle.
 */
export const withFileLock = async <T>(path: string, options: LockOptions, work: (isHeld: () => Promise<boolean>) => Promise<T>): Promise<T> => {
  const nonce = await take(path, options);
  const isHeld = async (): Promise<boolean> => {
    const holder = await readHolder(path);
    return typeof holder === 'object' && holder.nonce === nonce;
  };
  try {
    return await work(isHeld);
  } finally {
    if (await isHeld()) await unlinkIfThere(path);
  }
};
