import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The numbers under which the kernel knows a file; `stat` packs the first two into one. */
const placeOf = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const major = ((found.dev >> 8n) & 0xfffn) | ((found.dev >> 32n) & ~0xfffn);
  const minor = (found.dev & 0xffn) | ((found.dev >> 12n) & ~0xffn);
  const hex = (value: bigint): string => value.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${found.ino}`;
};

/**
 * The process that holds a lock on the file, by the word of the kernel; undefined where it does not tell: on other systems than Linux, on some file systems,
 * and for a process outside of this container.
 */
export const lockHolder = (path: string): number | undefined => {
  const place = placeOf(path);
  if (place === undefined || process.platform !== 'linux') return undefined;
  for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
    const [, kind, , mode, pid, at] = line.trim().split(/\s+/);
    // Whoever only looks reads.
    if (kind === 'POSIX' && mode === 'WRITE' && at === place && Number(pid) > 0) return Number(pid);
  }
  return undefined;
};

const lockOf = (home: string): string => join(home, 'gateway.lock');

/** The process that has a home, by the word of the kernel. */
export const homeHolder = (home: string): number | undefined => lockHolder(lockOf(home));

/** Whether a process has a file open; undefined where that is not told: on other systems than Linux, and of a process that is closed to this user. */
const hasOpen = (pid: number, path: string): boolean | undefined => {
  if (process.platform !== 'linux') return undefined;
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => {
      const open = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      return open !== undefined && open.dev === file?.dev && open.ino === file.ino;
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It has just gone, or something that it had open has.
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    if (code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
};

/** Whether a process can be the one that has a home: its number alone may be that of another, in another container or later. Undefined where that is not told. */
export const hasHomeOpen = (home: string, pid: number): boolean | undefined => hasOpen(pid, lockOf(home));

/** Some process, other than this one, that has the lock of a home open; for where the kernel does not tell who holds it. */
export const homeOpener = (home: string): number | undefined => {
  if (process.platform !== 'linux') return undefined;
  const pids = readdirSync('/proc').map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  return pids.find((pid) => hasHomeOpen(home, pid) === true);
};
