import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Every name and every byte in a folder. */
export const printOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for (const entry of (await readdir(path, { recursive: true, withFileTypes: true })).toSorted((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
    hash.update(join(entry.parentPath, entry.name));
    if (entry.isFile()) hash.update(await readFile(join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex');
};
