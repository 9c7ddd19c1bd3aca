import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
};

interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** What `/proc/<pid>/stat` says; the name of a process may hold blanks and brackets. */
export const parseStat = (text: string): ProcessStat | undefined => {
  const [state, parent, group, ...more] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const start = more[16];
  return state === undefined || start === undefined ? undefined : { state, parent: Number(parent), group: Number(group), start };
};

const statOf = async (pid: number): Promise<ProcessStat | undefined> => parseStat((await readIfThere(`/proc/${pid}/stat`)) ?? '');

const onLinux = async (pid: number): Promise<string | undefined> => {
  const stat = await statOf(pid);
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
  const boot = (await readIfThere('/proc/sys/kernel/random/boot_id')) ?? '';
  return `${boot.trim()}:${stat.start}`;
};

const elsewhere = async (pid: number): Promise<string | undefined> => {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const text = stdout.trim();
    return text === '' || text.startsWith('Z') ? undefined : text.replace(/^\S+\s+/, '');
  } catch (error) {
    // `ps` leaves with 1 when there is no such process.
    if (error instanceof Error && 'code' in error && error.code === 1) return undefined;
    throw error;
  }
};

/** When the process with this id began, the same text for as long as it lives and never the same for another; undefined when it is gone. */
export const processStart = (pid: number): Promise<string | undefined> => (process.platform === 'linux' ? onLinux(pid) : elsewhere(pid));

/** Whoever has hidden its processes from others has started none of ours. */
const statIfShown = async (pid: number): Promise<ProcessStat | undefined> => {
  try {
    return await statOf(pid);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')) return undefined;
    throw error;
  }
};

/** The groups of all that a process has started and that still has it above itself; its own is the first. Known on Linux only. */
export const groupsBelow = async (pid: number): Promise<readonly number[]> => {
  if (process.platform !== 'linux') return [pid];
  const pids = (await readdir('/proc')).map(Number).filter((each) => Number.isInteger(each));
  const stats = await Promise.all(pids.map(async (each) => ({ pid: each, stat: await statIfShown(each) })));
  const below = new Set([pid]);
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const each of stats) if (each.stat !== undefined && below.has(each.stat.parent)) below.add(each.pid);
  }
  return [...new Set([pid, ...stats.flatMap(({ pid: each, stat }) => (stat !== undefined && each !== pid && below.has(each) ? [stat.group] : []))])];
};
