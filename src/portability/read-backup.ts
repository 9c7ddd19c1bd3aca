import { existsSync } from 'node:fs';
import { chmod, copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { copyDatabase, readCopy } from '../store/copies/copy-database.ts';
import type { Manifest } from './manifest.ts';
import { unpackBackup } from './unpack-backup.ts';

/** What can be restored: a backup, or a copy of the database alone, such as the one that is made before an upgrade. */
export type Restorable = Omit<Manifest, 'format' | 'version' | 'engine' | 'files'> & {
  /** Of the program that made it; a copy of the database does not know. */
  readonly version: string | undefined;
  readonly files: readonly { readonly path: string }[];
};

interface ReadOptions {
  /** A folder that is empty; the files are there afterwards. */
  readonly into?: string;
  readonly signal?: AbortSignal | undefined;
}

const magic = 'SQLite format 3\0';

const isDatabase = async (file: string): Promise<boolean> => {
  if (!existsSync(file)) return false;
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return bytesRead === magic.length && buffer.toString('latin1') === magic;
  } finally {
    await handle.close();
  }
};

const take = async (file: string, to: string, signal: AbortSignal | undefined): Promise<void> => {
  // What somebody has open is not all in this file.
  if (existsSync(`${file}-wal`)) {
    await copyDatabase(file, to, { signal });
    return;
  }
  await copyFile(file, to);
  await chmod(to, 0o600);
};

const readDatabase = async (file: string, { into, signal }: ReadOptions): Promise<Restorable> => {
  const schemaVersion = readCopy(file);
  if (schemaVersion === 0) throw new ConfigError(`${file} cannot be used as a backup: it is a database of another program. Nothing was changed.`);
  if (into !== undefined) await take(file, join(into, 'gateway.db'), signal);
  return { version: undefined, createdAt: (await stat(file)).mtime.toISOString(), schemaVersion, secrets: true, files: [{ path: 'gateway.db' }] };
};

/** Reads what is to be restored from end to end and checks it; with `into` the files are there afterwards. */
export const readBackup = async (file: string, options: ReadOptions = {}): Promise<Restorable> => ((await isDatabase(file)) ? readDatabase(file, options) : unpackBackup(file, options));
