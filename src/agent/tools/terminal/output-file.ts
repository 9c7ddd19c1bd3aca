import { open, rm, stat, truncate, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { cleanText } from './clean-output.ts';

/** How much of the output of one process is remembered. */
export const rememberedChars = 200_000;
/** A character has at most four bytes. */
const rememberedBytes = rememberedChars * 4;
/** The process writes into the file by itself; it is shortened when it has grown this long. */
const maxFileBytes = 8 * 1024 * 1024;

const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isAbsent(error)) return 0;
    throw error;
  }
};

const readPart = async (path: string, from: number, length: number): Promise<Buffer> => {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (isAbsent(error)) return Buffer.alloc(0);
    throw error;
  }
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** The output of a background process, in a file that the process writes to itself. Positions count from its very first byte. */
export class OutputFile {
  readonly path: string;
  /** Bytes that were cut off the beginning. */
  #cutBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  get #older(): string {
    return `${this.path}.1`;
  }

  async end(): Promise<number> {
    return this.#cutBytes + (await sizeOf(this.path));
  }

  /** What stands from a position on; `from` is where it really begins, when the rest is gone. */
  async read(position: number, maxBytes: number): Promise<{ readonly from: number; readonly bytes: Buffer }> {
    const from = Math.max(position, this.#cutBytes);
    const length = Math.min(maxBytes, Math.max(0, (await this.end()) - from));
    return { from, bytes: length === 0 ? Buffer.alloc(0) : await readPart(this.path, from - this.#cutBytes, length) };
  }

  /** All that is remembered, as text. */
  async text(): Promise<string> {
    const size = await sizeOf(this.path);
    const recent = await readPart(this.path, Math.max(0, size - rememberedBytes), Math.min(size, rememberedBytes));
    const missing = rememberedBytes - recent.length;
    const before = missing > 0 ? await sizeOf(this.#older) : 0;
    const older = before > 0 ? await readPart(this.#older, Math.max(0, before - missing), Math.min(before, missing)) : Buffer.alloc(0);
    return cleanText(Buffer.concat([older, recent])).slice(-rememberedChars);
  }

  /** Keeps the file from growing without end. What the process writes in this very moment may be lost. */
  async trim(): Promise<void> {
    const size = await sizeOf(this.path);
    if (size < maxFileBytes) return;
    await writeFile(this.#older, await readPart(this.path, size - rememberedBytes, rememberedBytes), { mode: 0o600 });
    await truncate(this.path, 0);
    this.#cutBytes += size;
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    await rm(this.#older, { force: true });
  }
}
