import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isHomeTaken } from '../home-taken.ts';

/** What has a home right now. A terminal chat that hosts a gateway has no number: it is its person's to end. */
export type HomeHolder = { readonly type: 'nobody' } | { readonly type: 'gateway'; readonly pid: number; readonly sinceMs: number } | { readonly type: 'terminal' };

const pidFile = (home: string): string => join(home, 'gateway.pid');

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** What the file says; without the lock it proves nothing. Undefined when there is none. */
export const writtenPid = (home: string): { readonly pid: number; readonly sinceMs: number } | undefined => {
  const found = statSync(pidFile(home), { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const pid = Number(readFileSync(pidFile(home), 'utf8').trim());
  return Number.isInteger(pid) && pid > 1 ? { pid, sinceMs: found.mtimeMs } : undefined;
};

/** The lock is the truth; the file only says who has it, and counts for nothing without the lock. Looking takes the lock for a moment, so whoever waits for a gateway looks at the file first. */
export const holderOf = (home: string): HomeHolder => {
  if (!isHomeTaken(home)) return { type: 'nobody' };
  const written = writtenPid(home);
  return written !== undefined && isAlive(written.pid) ? { type: 'gateway', ...written } : { type: 'terminal' };
};

const lookEveryMs = 50;

/** Looks again and again until `found` answers something, at most so long. */
export const lookFor = async <T>(found: () => T | undefined, atMostMs: number): Promise<T | undefined> => {
  const untilMs = Date.now() + atMostMs;
  for (;;) {
    const result = found();
    if (result !== undefined || Date.now() >= untilMs) return result;
    await sleep(lookEveryMs);
  }
};
