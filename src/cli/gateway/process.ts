import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../core/errors.ts';
import { span } from '../../lib/span.ts';
import { isHomeTaken } from '../../store/locks/home-lock.ts';
import { hasHomeOpen, homeHolder, homeOpener } from '../../store/locks/lock-holder.ts';
import { notedStart } from './start-note.ts';

interface HeldByGateway {
  readonly type: 'gateway';
  readonly pid: number;
  readonly sinceMs: number;
  /** What it is busy with before it runs; undefined once it does. */
  readonly doing?: string;
}

/** What has a home right now. A terminal chat that hosts a gateway has no number: it is its person's to end. Nor has a process of another container or machine: whatever number it has written down is somebody else's here. */
export type HomeHolder = { readonly type: 'nobody' } | HeldByGateway | { readonly type: 'terminal' } | { readonly type: 'outside' };

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
  // The system reads 0 as "our own group" and what is below as another group or everybody.
  if (!Number.isInteger(pid) || pid < 1) throw new RangeError(`${pid} is no process to send ${signal} to`);
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

const ticksPerSecond = 100;

/** When a process began, by the word of the kernel; undefined where there is no /proc, and for one that has gone. */
const beganByKernel = (pid: number): number | undefined => {
  try {
    // What stands in brackets is its name, and may be anything.
    const ticks = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]);
    const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    return Number.isNaN(ticks + bootSeconds) ? undefined : (bootSeconds + ticks / ticksPerSecond) * 1000;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/** When a process began; undefined where nobody tells. */
const beganAtMs = (pid: number): number | undefined => {
  const byKernel = beganByKernel(pid);
  if (byKernel !== undefined) return byKernel;
  const said = Date.parse(spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { LC_ALL: 'C' } }).stdout?.trim() ?? '');
  return Number.isNaN(said) ? undefined : said;
};

const slackMs = 2000;

/** A number is given to somebody else when its process has gone: whoever began after the file was written did not write it. */
const beganAfter = ({ pid, sinceMs }: { readonly pid: number; readonly sinceMs: number }): boolean => (beganAtMs(pid) ?? 0) > sinceMs + slackMs;

/** Whether the process under a number that stands in the home has it, as far as one can tell; `holder` is who has the home, where the kernel tells. */
const isThat = (home: string, { pid, sinceMs }: { readonly pid: number; readonly sinceMs: number }, holder: number | undefined): boolean => {
  if (holder !== undefined) return holder === pid;
  return isAlive(pid) && (hasHomeOpen(home, pid) ?? (process.platform !== 'linux' || runsGateway(pid))) && !beganAfter({ pid, sinceMs });
};

/**
 * The lock is the truth. Who has it the kernel says, where it does; elsewhere a file in the home, if that can be. Looking takes the lock for a moment, so whoever
 * waits for a gateway looks at the file first.
 */
export const holderOf = (home: string): HomeHolder => {
  if (!isHomeTaken(home)) return { type: 'nobody' };
  const written = writtenPid(home);
  const holder = homeHolder(home);
  const note = notedStart(home);
  if (note !== undefined && isThat(home, note, holder) && !beganAfter(note)) return { type: 'gateway', ...note };
  if (written !== undefined && isThat(home, written, holder)) return { type: 'gateway', ...written };
  const other = holder ?? homeOpener(home);
  if (other !== undefined) return runsGateway(other) ? { type: 'gateway', pid: other, sinceMs: beganAtMs(other) ?? Date.now() } : { type: 'terminal' };
  if (process.platform !== 'linux') return { type: 'terminal' };
  // Whoever had it may have gone since the first look.
  return isHomeTaken(home) ? { type: 'outside' } : { type: 'nobody' };
};

/** Whether this process, and no other under its number, still has the home. */
export const isHeldBy = (home: string, pid: number): boolean => {
  const holder = homeHolder(home);
  const written = writtenPid(home);
  return holder === undefined ? written?.pid === pid && isThat(home, written, holder) : holder === pid;
};

export const outsideText = 'held from outside, by a process of another container or machine';

/** Nobody who is outside can be ended, asked or taken over from here. */
export const outsideTrouble = (home: string): ConfigError => new ConfigError(`${home} is ${outsideText}. Use hermes where that runs, for a container of compose.yaml: docker compose exec hermes hermes gateway status`, { mayPass: true });

/** What is shown of a gateway that has the home and does not run yet; undefined when there is none. */
export const startingText = (holder: HomeHolder): string | undefined =>
  holder.type === 'gateway' && holder.doing !== undefined ? `starting for ${span(Date.now() - holder.sinceMs)}, process ${holder.pid} (${holder.doing})` : undefined;

const lookEveryMs = 50;

/** Looks again and again until `found` answers something, at most so long. */
export const lookFor = async <T>(found: () => T | undefined, atMostMs: number): Promise<T | undefined> => {
  // Not by the clock, which may be set meanwhile: who waits for an end would kill too early, or wait for hours.
  const untilMs = performance.now() + atMostMs;
  for (;;) {
    const result = found();
    if (result !== undefined || performance.now() >= untilMs) return result;
    await sleep(lookEveryMs);
  }
};
