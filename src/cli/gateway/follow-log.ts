import { statSync, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const chunkBytes = 64 * 1024;

/** A log and how many older files it has at most. */
export interface LogFiles {
  readonly path: string;
  readonly keep: number;
}

interface Part {
  readonly path: string;
  readonly inode: number;
  readonly size: number;
}

/** The files of a log that are there, oldest first. */
const partsOf = ({ path, keep }: LogFiles): readonly Part[] =>
  Array.from({ length: keep + 1 }, (_none, i) => (i === keep ? path : `${path}.${keep - i}`)).flatMap((each) => {
    const found = statSync(each, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ path: each, inode: found.ino, size: found.size }];
  });

/** Opens a part; undefined when it has been moved away meanwhile. */
const openPart = async ({ path, inode }: Part): Promise<FileHandle | undefined> => {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if ((await file.stat()).ino === inode) return file;
  await file.close();
  return undefined;
};

/** Lines of a file and of its older parts, newest file last. When files are moved on meanwhile it begins anew: none is left out, and none comes twice. */
export const readLog = async (files: LogFiles): Promise<readonly string[]> => {
  const lines: string[] = [];
  for (const part of partsOf(files)) {
    await using file = await openPart(part);
    if (file === undefined) return readLog(files);
    for (const line of (await file.readFile('utf8')).split('\n')) if (line !== '') lines.push(line);
  }
  return lines;
};

/** Reads whole lines from a place in a file on; answers where they end. */
const readFrom = async (file: FileHandle, from: number, onLine: (line: string) => void): Promise<number> => {
  let at = from;
  let rest = Buffer.alloc(0);
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at + rest.length);
    if (bytesRead === 0) return at;
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    for (const line of bytes.toString('utf8', 0, end).split('\n')) if (line !== '') onLine(line);
    at += end;
    rest = bytes.subarray(end);
  }
};

/** Hands out what has been added to any of the files since the last look. How far each was read is known by its inode: names move on. */
const newReader = (files: LogFiles, onLine: (line: string) => void): (() => Promise<void>) => {
  let read = new Map(partsOf(files).map(({ inode, size }) => [inode, size]));
  const lookAgain = async (): Promise<boolean> => {
    const parts = partsOf(files);
    read = new Map([...read].filter(([inode]) => parts.some((part) => part.inode === inode)));
    for (const part of parts) {
      const known = read.get(part.inode) ?? 0;
      const from = part.size < known ? 0 : known;
      if (part.size === from) continue;
      const file = await openPart(part);
      if (file === undefined) return true;
      await using _closed = file;
      read.set(part.inode, await readFrom(file, from, onLine));
    }
    return false;
  };
  return async () => {
    while (await lookAgain());
  };
};

/** Calls `onLine` for what is written to a log from now on, also after it was moved away and begun anew, however often. Resolves when the signal comes; rejects when it cannot be followed any more. */
export const followLog = async (files: LogFiles, onLine: (line: string) => void, signal: AbortSignal): Promise<void> => {
  const readOn = newReader(files, onLine);
  let changed = Promise.withResolvers<void>();
  let failure: Error | undefined;
  const watcher = watch(dirname(files.path), (_type, name) => {
    if (name === null || name.startsWith(basename(files.path))) changed.resolve();
  });
  watcher.on('error', (error) => {
    failure = error;
    changed.resolve();
  });
  const stop = (): void => changed.resolve();
  signal.addEventListener('abort', stop, { once: true });
  try {
    while (!signal.aborted) {
      await changed.promise;
      changed = Promise.withResolvers<void>();
      if (failure !== undefined) throw failure;
      if (!signal.aborted) await readOn();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watcher.close();
  }
};
