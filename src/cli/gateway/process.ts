import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isHomeTaken } from '../home-taken.ts';

/** What has a home right now. A terminal chat that hosts a gateway has no number: it is its person's to end. */
export type HomeHolder = { readonly type: 'nobody' } | { readonly type: 'gateway'; readonly pid: number; readonly sinceMs: number } | { readonly type: 'terminal' };

const pidFile = (home: string): string => join(home, 'gateway.pid');

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** The lock is the truth; the file only says who has it, and counts for nothing without the lock. */
export const holderOf = (home: string): HomeHolder => {
  if (!isHomeTaken(home)) return { type: 'nobody' };
  if (!existsSync(pidFile(home))) return { type: 'terminal' };
  const pid = Number(readFileSync(pidFile(home), 'utf8').trim());
  return Number.isInteger(pid) && pid > 1 && isAlive(pid) ? { type: 'gateway', pid, sinceMs: statSync(pidFile(home)).mtimeMs } : { type: 'terminal' };
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
