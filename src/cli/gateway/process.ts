import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isHomeTaken } from '../../store/home-lock.ts';
import { homeHolder } from '../../store/lock-holder.ts';

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

/** False for a process that has gone meanwhile, which is all that most signals want. */
export const sendSignal = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/** What the file says; without the lock it proves nothing. Undefined when there is none. */
export const writtenPid = (home: string): { readonly pid: number; readonly sinceMs: number } | undefined => {
  try {
    const { mtimeMs } = statSync(pidFile(home));
    const pid = Number(readFileSync(pidFile(home), 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? { pid, sinceMs: mtimeMs } : undefined;
  } catch (error) {
    // A gateway that ends takes it away, also between two looks.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Whether it runs `hermes gateway`, by its command line; only for a process that holds the lock of a home. */
const runsGateway = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('gateway');
  } catch (error) {
    // It has just gone.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
};

const slackMs = 2000;

/** A number is given to somebody else when its process has gone: whoever began after the file was written did not write it. */
const beganAfter = ({ pid, sinceMs }: { readonly pid: number; readonly sinceMs: number }): boolean => {
  const said = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { LC_ALL: 'C' } }).stdout?.trim() ?? '';
  return Date.parse(said) > sinceMs + slackMs;
};

/**
 * The lock is the truth. Who has it the kernel says, where it does; elsewhere the file does, if it can be. Looking takes the lock for a moment, so whoever waits
 * for a gateway looks at the file first.
 */
export const holderOf = (home: string): HomeHolder => {
  if (!isHomeTaken(home)) return { type: 'nobody' };
  const written = writtenPid(home);
  const holder = homeHolder(home);
  if (holder !== undefined && holder !== written?.pid) return runsGateway(holder) ? { type: 'gateway', pid: holder, sinceMs: Date.now() } : { type: 'terminal' };
  return written !== undefined && isAlive(written.pid) && (holder !== undefined || !beganAfter(written)) ? { type: 'gateway', ...written } : { type: 'terminal' };
};

/** Whether this process, and no other under its number, still has the home. */
export const isHeldBy = (home: string, pid: number): boolean => isAlive(pid) && (writtenPid(home)?.pid === pid || homeHolder(home) === pid);

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
