import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../lib/clock.ts';
import { nameFile } from '../lib/name-file.ts';
import { tarEnd, tarHeader, tarPadding } from '../lib/tar.ts';
import { checkCopy, copyDatabase, forgetAccountValues } from '../store/copy-database.ts';
import { backupContents } from './backup-contents.ts';
import type { ContentRules, FoundFile } from './backup-contents.ts';
import { manifestName } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { holdPartial, sweepPartial } from './sweep-partial.ts';

export interface BackupProgress {
  readonly step: 'database' | 'files';
  readonly done: number;
  readonly total: number;
}

export interface BackupOptions extends ContentRules {
  readonly home: string;
  readonly database: { readonly engine: 'sqlite'; readonly path: string } | { readonly engine: 'postgres'; readonly url: string };
  /** The archive; a file of that name is replaced when the new one is whole. */
  readonly file: string;
  readonly version: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** What stands in place of a file, where it is not to be taken as it is. */
  readonly instead?: ReadonlyMap<string, string>;
  /** Accounts whose own values hold no login. */
  readonly plainAccounts: readonly string[];
  onProgress?(progress: BackupProgress): void;
}

export interface Backup {
  readonly manifest: Manifest;
  readonly sizeBytes: number;
  readonly leftOut: readonly string[];
}

type Written = Manifest['files'][number];

const databaseName = 'gateway.db';

/** Exactly as many bytes as the header said, though the file may grow meanwhile. */
async function* contentOf(handle: FileHandle, sizeBytes: number, hash: Hash): AsyncGenerator<Buffer> {
  const chunk = 256 * 1024;
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(chunk, sizeBytes - at)), 0, null, at);
    if (bytesRead === 0) throw new Error('a file became shorter while it was read; try again');
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    at += bytesRead;
    yield piece;
  }
}

/** Undefined for a file that is gone. */
const openFile = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

async function* fileEntry(source: string, name: string, written: Written[]): AsyncGenerator<Buffer> {
  const handle = await openFile(source);
  if (handle === undefined) return;
  try {
    const { size, mode, mtimeMs } = await handle.stat();
    const hash = createHash('sha256');
    yield tarHeader({ name, sizeBytes: size, mode: mode & 0o777, mtimeMs });
    yield* contentOf(handle, size, hash);
    yield tarPadding(size);
    written.push({ path: name, sizeBytes: size, sha256: hash.digest('hex') });
  } finally {
    await handle.close();
  }
}

function* textEntry(name: string, text: string, mtimeMs: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  yield tarHeader({ name, sizeBytes: bytes.length, mode: 0o600, mtimeMs });
  yield bytes;
  yield tarPadding(bytes.length);
}

interface Sources {
  readonly files: readonly FoundFile[];
  /** The copy of the database and the version of its schema. */
  readonly database: { readonly path: string; readonly schemaVersion: number } | undefined;
}

async function* archive(options: BackupOptions, sources: Sources, finish: (manifest: Manifest) => void): AsyncGenerator<Buffer> {
  const nowMs = options.clock.now();
  const written: Written[] = [];
  if (sources.database !== undefined) yield* fileEntry(sources.database.path, databaseName, written);
  const total = sources.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  let done = 0;
  for (const file of sources.files) {
    options.signal?.throwIfAborted();
    const text = options.instead?.get(file.path);
    if (text === undefined) yield* fileEntry(join(options.home, file.path), file.path, written);
    else {
      yield* textEntry(file.path, text, file.mtimeMs);
      written.push({ path: file.path, sizeBytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') });
    }
    done += file.sizeBytes;
    options.onProgress?.({ step: 'files', done, total });
  }
  const manifest: Manifest = {
    format: 1,
    version: options.version,
    createdAt: new Date(nowMs).toISOString(),
    engine: options.database.engine,
    ...(sources.database !== undefined && { schemaVersion: sources.database.schemaVersion }),
    secrets: options.secrets,
    files: written,
  };
  yield* textEntry(manifestName, JSON.stringify(manifest, null, 2), nowMs);
  yield tarEnd;
  finish(manifest);
}

const copyStore = async (options: BackupOptions, path: string): Promise<number> => {
  const { database } = options;
  const copying = { signal: options.signal, onProgress: (done: number, total: number) => options.onProgress?.({ step: 'database', done, total }) };
  if (database.engine === 'sqlite') return copyDatabase(database.path, path, copying);
  const { copyFromPostgres } = await import('../store/transfer.ts');
  return copyFromPostgres(database.url, path, copying);
};

const copyForBackup = async (options: BackupOptions, folder: string): Promise<Sources['database']> => {
  if (options.database.engine === 'sqlite' && !existsSync(options.database.path)) return undefined;
  const path = join(folder, databaseName);
  const schemaVersion = await copyStore(options, path);
  if (!options.secrets) forgetAccountValues(path, options.plainAccounts);
  checkCopy(path, schemaVersion);
  return { path, schemaVersion };
};

/** Writes everything of a home into one file, beside a gateway that may be at work. The file is there whole or not at all. */
export const writeBackup = async (options: BackupOptions): Promise<Backup> => {
  const { file, home } = options;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await sweepPartial(dirname(file), options.clock.now());
  const folder = await mkdtemp(join(dirname(file), '.partial-'));
  const hold = holdPartial(folder);
  try {
    const database = await copyForBackup(options, folder);
    const { files, leftOut } = await backupContents(home, options);
    const own = relative(home, file).split('\\').join('/');
    const partial = join(folder, 'archive');
    let manifest: Manifest | undefined;
    const content = archive(options, { files: files.filter(({ path }) => path !== own), database }, (made) => (manifest = made));
    await pipeline(content, createGzip(), createWriteStream(partial, { mode: 0o600, flush: true }), { signal: options.signal });
    if (manifest === undefined) throw new Error('the archive has no end');
    const { size } = await stat(partial);
    await rename(partial, file);
    return { manifest, sizeBytes: size, leftOut };
  } catch (error) {
    throw nameFile(error, file);
  } finally {
    hold.release();
    await rm(folder, { recursive: true, force: true });
  }
};
