import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tarHeader, tarPadding } from '../lib/tar.ts';
import type { Manifest } from './manifest.ts';

export interface TakenFile {
  readonly written: Manifest['files'][number];
  /** False for a file that lost its end while it was read. */
  readonly isWhole: boolean;
}

const chunkBytes = 256 * 1024;

/** Undefined for a file that is gone. */
const openFile = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Shorter than wanted only at the end of the file. */
const readPiece = async (handle: FileHandle, at: number, wantedBytes: number): Promise<Buffer> => {
  const piece = Buffer.allocUnsafe(Math.min(chunkBytes, wantedBytes));
  let filled = 0;
  while (filled < piece.length) {
    const { bytesRead } = await handle.read(piece, filled, piece.length - filled, at + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return piece.subarray(0, filled);
};

/**
 * A file as an entry of an archive; answers what was taken, undefined for a file that is gone. A small file is taken as it is. Of a large one exactly as many bytes as its header
 * has said: what it grows by meanwhile is left out, and what it loses stands there as zeros.
 */
export async function* fileEntry(source: string, name: string): AsyncGenerator<Buffer, TakenFile | undefined> {
  const handle = await openFile(source);
  if (handle === undefined) return undefined;
  try {
    const { size, mode, mtimeMs } = await handle.stat();
    const first = await readPiece(handle, 0, size);
    const sizeBytes = first.length < Math.min(chunkBytes, size) ? first.length : size;
    const hash = createHash('sha256');
    yield tarHeader({ name, sizeBytes, mode: mode & 0o777, mtimeMs });
    let isWhole = true;
    let at = 0;
    for (let piece = first; at < sizeBytes; piece = await readPiece(handle, at, sizeBytes - at)) {
      isWhole &&= piece.length > 0;
      const taken = piece.length > 0 ? piece : Buffer.alloc(Math.min(chunkBytes, sizeBytes - at));
      hash.update(taken);
      at += taken.length;
      yield taken;
    }
    yield tarPadding(sizeBytes);
    return { written: { path: name, sizeBytes, sha256: hash.digest('hex') }, isWhole };
  } finally {
    await handle.close();
  }
}
