import { readFileSync, statSync } from 'node:fs';
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
    const [, kind, , , pid, at] = line.trim().split(/\s+/);
    if (kind === 'POSIX' && at === place && Number(pid) > 0) return Number(pid);
  }
  return undefined;
};

/** The process that has a home, by the word of the kernel. */
export const homeHolder = (home: string): number | undefined => lockHolder(join(home, 'gateway.lock'));
