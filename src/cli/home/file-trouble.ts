import { isAbsolute, relative } from 'node:path';

interface FileTrouble {
  readonly sentence: string;
  readonly exitCode: 1 | 78;
}

interface Kind {
  readonly reason: string;
  /** A home in which this happens cannot be used before somebody has mended it. */
  readonly lasts: boolean;
}

const notAllowed: Kind = { reason: 'this user may not do that. Check the owner and the permissions', lasts: true };
const inTheWay: Kind = { reason: 'a file stands where a folder should be', lasts: true };
const full: Kind = { reason: 'the disk is full. Make room and try again', lasts: false };

const kinds: Readonly<Record<string, Kind>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  ENOSPC: full,
  EDQUOT: { reason: 'this user may not store more there. Make room and try again', lasts: false },
  EROFS: { reason: 'the file system is read-only', lasts: true },
  ENOTDIR: inTheWay,
  EISDIR: { reason: 'a folder stands where a file should be', lasts: true },
};

const isWithin = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return !way.startsWith('..') && !isAbsolute(way);
};

/** What a person can mend about files and folders, in a sentence; undefined for every other error. */
export const fileTrouble = (error: unknown, home: string): FileTrouble | undefined => {
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException;
  const kind = code === 'EEXIST' && syscall === 'mkdir' ? inTheWay : kinds[code];
  if (kind === undefined) return undefined;
  return { sentence: `${path ?? `A file could not be ${syscall === 'read' ? 'read' : 'written'}`}: ${kind.reason} (${code}, ${syscall}).`, exitCode: kind.lasts && path !== undefined && isWithin(path, home) ? 78 : 1 };
};
