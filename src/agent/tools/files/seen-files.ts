import type { BigIntStats } from 'node:fs';

/** What tells one state of a file from another. */
export interface FileStamp {
  readonly mtimeNs: bigint;
  readonly size: bigint;
  readonly ino: bigint;
}

export const stampOf = ({ mtimeNs, size, ino }: BigIntStats): FileStamp => ({ mtimeNs, size, ino });
export const sameStamp = (a: FileStamp, b: FileStamp): boolean => a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino;

export interface SeenFile {
  readonly stamp: FileStamp;
  /** Parts that were shown, and whether their last showing was only a pointer to an earlier one. */
  readonly parts: ReadonlyMap<string, 'shown' | 'pointed'>;
  /** Something in it was hidden when it was shown, so that it must not be written back whole. */
  readonly redacted: boolean;
}

/** What each conversation knows of files. It is a convenience: losing it loses a warning, nothing else. */
export interface SeenFiles {
  get(sessionId: string, real: string): SeenFile | undefined;
  set(sessionId: string, real: string, seen: SeenFile): void;
  forget(sessionId: string, real: string): void;
}

const maxFiles = 5000;

export const newSeenFiles = (): SeenFiles => {
  const files = new Map<string, SeenFile>();
  const keyOf = (sessionId: string, real: string): string => `${sessionId}\0${real}`;
  return {
    get: (sessionId, real) => files.get(keyOf(sessionId, real)),
    set(sessionId, real, seen) {
      const key = keyOf(sessionId, real);
      files.delete(key);
      files.set(key, seen);
      const oldest = files.keys().next();
      if (files.size > maxFiles && !oldest.done) files.delete(oldest.value);
    },
    forget: (sessionId, real) => void files.delete(keyOf(sessionId, real)),
  };
};
