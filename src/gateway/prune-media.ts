import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const dayMs = 86_400_000;

/** Removes files that nobody has written for so many days. What a conversation still names is then only a name. */
export const pruneMedia = async (folder: string, days: number, at: { nowMs: number; signal: AbortSignal }): Promise<number> => {
  let removed = 0;
  for await (const entry of await opendir(folder, { recursive: true })) {
    if (at.signal.aborted) return removed;
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (at.nowMs - (await stat(path)).mtimeMs <= days * dayMs) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
};
