import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { nameFile } from '../lib/name-file.ts';
import { tarEnd, tarHeader, tarPadding } from '../lib/tar.ts';

async function* entriesOf(folder: string): AsyncGenerator<Buffer> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const path of entries.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
    const { size, mtimeMs } = await stat(path);
    yield tarHeader({ name: relative(folder, path).split(sep).join('/'), sizeBytes: size, mode: 0o600, mtimeMs });
    for await (const piece of createReadStream(path)) yield piece as Buffer;
    yield tarPadding(size);
  }
  yield tarEnd;
}

/** A folder that nobody else writes to, as one file for its owner alone. */
export const packFolder = async (folder: string, file: string): Promise<void> => {
  const partial = `${file}.partial`;
  try {
    await pipeline(entriesOf(folder), createGzip(), createWriteStream(partial, { mode: 0o600, flush: true }));
    await rename(partial, file);
  } catch (error) {
    throw nameFile(error, file);
  } finally {
    await rm(partial, { force: true });
  }
};
