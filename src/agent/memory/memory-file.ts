import { copyFile, mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import type { ChangeOutcome, MemoryChange } from './entries.ts';
import { changeEntries, joinEntries, parseEntries, sizeOfEntries } from './entries.ts';
import { withFileLock } from './file-lock.ts';

/** A file of entries with a bound. */
export interface MemoryFile {
  readonly path: string;
  readonly limitChars: number;
}

/** The file holds something that no change of ours can have written: writing it anew would lose that. A copy lies beside it. */
export interface Drifted {
  readonly type: 'drifted';
  readonly reason: string;
  readonly copy: string;
}

export type FileOutcome = ChangeOutcome | Drifted;

/** Far beyond any limit: what is larger is no memory and is not read. */
const maxFileBytes = 1024 * 1024;
const maxCopies = 5;
const maxTries = 5;

type Content = { readonly type: 'entries'; readonly text: string; readonly entries: readonly string[] } | { readonly type: 'strange'; readonly reason: string };

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

const read = async ({ path, limitChars }: MemoryFile): Promise<Content> => {
  let bytes: Uint8Array;
  try {
    if ((await stat(path)).size > maxFileBytes) return { type: 'strange', reason: 'it is far too large for a memory' };
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { type: 'entries', text: '', entries: [] };
    throw error;
  }
  const text = decode(bytes);
  if (text === undefined || text.includes('\0')) return { type: 'strange', reason: 'it is not a UTF-8 text' };
  const entries = parseEntries(text);
  // Text that was added without a separator hangs on to an entry, and would go with it.
  if (entries.some((entry) => sizeOfEntries([entry]) > limitChars)) return { type: 'strange', reason: `it has an entry of more than ${limitChars} characters; entries are separated by a line with only §` };
  return { type: 'entries', text, entries };
};

/** Keeps what is there now under another name, once, and only the newest few. */
const keepCopy = async (path: string, clock: Clock): Promise<string> => {
  const prefix = `${basename(path)}.bak.`;
  const older = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix)).toSorted();
  const now = await readFile(path);
  for (const name of older) if (now.equals(await readFile(join(dirname(path), name)))) return name;
  const newest = Number(older.at(-1)?.slice(prefix.length) ?? 0) || 0;
  const copy = `${prefix}${String(Math.max(clock.now(), newest + 1)).padStart(15, '0')}`;
  await copyFile(path, join(dirname(path), copy));
  for (const name of older.slice(0, Math.max(0, older.length + 1 - maxCopies))) await rm(join(dirname(path), name), { force: true });
  return copy;
};

/** The entries as they are in the file now; none when there is no file. A file that cannot be understood has none and says why. */
export const readMemoryFile = async (file: MemoryFile): Promise<{ readonly entries: readonly string[]; readonly problem?: string }> => {
  const content = await read(file);
  return content.type === 'entries' ? { entries: content.entries } : { entries: [], problem: content.reason };
};

/**
 * Changes the file as a whole or not at all, one writer at a time across processes. What people write into it meanwhile without asking for the lock is taken in,
 * not overwritten.
 */
export const changeMemoryFile = async (file: MemoryFile, change: MemoryChange, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<FileOutcome> => {
  await mkdir(dirname(file.path), { recursive: true, mode: 0o700 });
  return withFileLock(`${file.path}.lock`, { clock, signal }, async (isHeld) => {
    for (let tries = 1; ; tries += 1) {
      const before = await read(file);
      if (before.type === 'strange') return { type: 'drifted', reason: before.reason, copy: await keepCopy(file.path, clock) };
      const outcome = changeEntries(before.entries, change, file.limitChars);
      if (outcome.type !== 'changed') return outcome;
      const after = await read(file);
      const settled = after.type === 'entries' && after.text === before.text && (await isHeld());
      if (!settled && tries < maxTries) continue;
      if (!settled) throw new Error(`${file.path} keeps changing while it is being written`);
      await writeAtomically(file.path, `${joinEntries(outcome.entries)}\n`);
      return outcome;
    }
  });
};
