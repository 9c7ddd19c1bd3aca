import { existsSync, statSync, watch } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const chunkBytes = 64 * 1024;

/** Lines of a file and of its older parts, newest file last. */
export const readLog = async (path: string, keep: number): Promise<readonly string[]> => {
  const lines: string[] = [];
  for (let i = keep; i >= 0; i -= 1) {
    const part = i === 0 ? path : `${path}.${i}`;
    if (existsSync(part)) lines.push(...(await readFile(part, 'utf8')).split('\n').filter((line) => line !== ''));
  }
  return lines;
};

/** Reads whole lines from a place in a file on; answers where they end. */
const readFrom = async (path: string, from: number, onLine: (line: string) => void): Promise<number> => {
  const file = await open(path, 'r');
  try {
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
  } finally {
    await file.close();
  }
};

/** Calls `onLine` for what is written to a log from now on, also after it was moved away and begun anew. Resolves when the signal comes. */
export const followLog = async (path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> => {
  const sizeNow = (): { inode: number; size: number } => {
    const found = statSync(path, { throwIfNoEntry: false });
    return { inode: found?.ino ?? 0, size: found?.size ?? 0 };
  };
  let { inode, size: at } = sizeNow();
  let changed = Promise.withResolvers<void>();
  const watcher = watch(dirname(path), (_type, name) => {
    if (name === null || name === basename(path)) changed.resolve();
  });
  const stop = (): void => changed.resolve();
  signal.addEventListener('abort', stop, { once: true });
  try {
    while (!signal.aborted) {
      await changed.promise;
      changed = Promise.withResolvers<void>();
      if (signal.aborted) return;
      const now = sizeNow();
      if (now.inode !== inode || now.size < at) {
        inode = now.inode;
        at = 0;
      }
      if (now.size > at) at = await readFrom(path, at, onLine);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watcher.close();
  }
};
