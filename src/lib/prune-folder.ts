import { opendir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What may stay in a folder. */
export interface FolderLimits {
  /** Since a file was last written. */
  readonly maxAgeMs: number;
  /** Of all files together. */
  readonly maxBytes: number;
}

export interface PrunedFolder {
  /** How many files went. */
  readonly removed: number;
  /** Folders below it, the innermost last; some of them may be empty now. */
  readonly folders: readonly string[];
}

interface KeptFile {
  readonly path: string;
  readonly mtimeMs: number;
  readonly size: number;
}

const codeOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

const unlessGone = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const listKept = async (folder: string, signal: AbortSignal): Promise<{ readonly files: readonly KeptFile[]; readonly folders: readonly string[] }> => {
  const files: KeptFile[] = [];
  const folders: string[] = [];
  const visit = async (inner: string): Promise<void> => {
    const entries = await unlessGone(opendir(inner));
    if (entries === undefined) return;
    for await (const entry of entries) {
      signal.throwIfAborted();
      const path = join(inner, entry.name);
      if (entry.isDirectory()) {
        folders.push(path);
        await visit(path);
      }
      const stats = entry.isFile() ? await unlessGone(stat(path)) : undefined;
      if (stats !== undefined) files.push({ path, mtimeMs: stats.mtimeMs, size: stats.size });
    }
  };
  await visit(folder);
  return { files, folders };
};

/** Removes files that are too old, then the oldest until the rest fits. A folder that is not there is empty. */
export const pruneFolder = async (folder: string, limits: FolderLimits, at: { readonly nowMs: number; readonly signal: AbortSignal }): Promise<PrunedFolder> => {
  const { files, folders } = await listKept(folder, at.signal);
  let keptBytes = 0;
  let removed = 0;
  for (const file of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
    keptBytes += file.size;
    if (at.nowMs - file.mtimeMs <= limits.maxAgeMs && keptBytes <= limits.maxBytes) continue;
    at.signal.throwIfAborted();
    await rm(file.path, { force: true });
    removed += 1;
  }
  return { removed, folders };
};

/** Removes a folder unless something is in it. */
export const removeIfEmpty = async (folder: string): Promise<void> => {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
  }
};
