import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { StoreError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { giveToOwner, makeFolders } from '../lib/give-to-owner.ts';
import { nameFile } from '../lib/name-file.ts';
import { syncFolder } from '../lib/sync-folder.ts';
import { tarEnd, tarHeader, tarPadding } from '../lib/tar.ts';
import { checkCopy, copyDatabase, forgetAccountValues } from '../store/copies/copy-database.ts';
import { backupContents } from './backup-contents.ts';
import type { ContentRules, FoundFile } from './backup-contents.ts';
import { fileEntry } from './file-entry.ts';
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
  /** The database could not be copied because it is damaged: this is a backup of everything else. */
  readonly isDamaged: boolean;
}

const databaseName = 'gateway.db';

/** As it is, for whoever wants to save something of it; a restore puts it beside the database. */
const damagedName = 'gateway.db.damaged';

function* textEntry(name: string, text: string, mtimeMs: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  yield tarHeader({ name, sizeBytes: bytes.length, mode: 0o600, mtimeMs });
  yield bytes;
  yield tarPadding(bytes.length);
}

interface Sources {
  readonly files: readonly FoundFile[];
  /** The copy of the database and the version of its schema, or that it is damaged. */
  readonly database: { readonly path: string; readonly schemaVersion: number } | 'damaged' | undefined;
}

interface Archived {
  readonly manifest: Manifest;
  /** What of it is not whole, in words. */
  readonly cut: readonly string[];
}

async function* archive(options: BackupOptions, sources: Sources, finish: (archived: Archived) => void): AsyncGenerator<Buffer> {
  const nowMs = options.clock.now();
  const written: Manifest['files'][number][] = [];
  const cut: string[] = [];
  const take = async function* (source: string, name: string): AsyncGenerator<Buffer> {
    const taken = yield* fileEntry(source, name);
    if (taken !== undefined) written.push(taken.written);
    if (taken?.isWhole === false) cut.push(`the end of ${name} (it became shorter while it was read)`);
  };
  const { database } = sources;
  if (database === 'damaged') {
    // What accounts keep, logins among it, cannot be taken out of it.
    if (options.secrets && options.database.engine === 'sqlite') yield* take(options.database.path, damagedName);
  } else if (database !== undefined) yield* take(database.path, databaseName);
  const total = sources.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  let done = 0;
  for (const file of sources.files) {
    options.signal?.throwIfAborted();
    const text = options.instead?.get(file.path);
    if (text === undefined) yield* take(join(options.home, file.path), file.path);
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
    ...(typeof database === 'object' && { schemaVersion: database.schemaVersion }),
    secrets: options.secrets,
    files: written,
  };
  yield* textEntry(manifestName, JSON.stringify(manifest, null, 2), nowMs);
  yield tarEnd;
  finish({ manifest, cut });
}

const copyStore = async (options: BackupOptions, path: string): Promise<number> => {
  const { database } = options;
  const copying = { signal: options.signal, onProgress: (done: number, total: number) => options.onProgress?.({ step: 'database', done, total }) };
  if (database.engine === 'sqlite') return copyDatabase(database.path, path, copying);
  const { copyFromPostgres } = await import('../store/copies/transfer.ts');
  return copyFromPostgres(database.url, path, copying);
};

const copyForBackup = async (options: BackupOptions, folder: string): Promise<Sources['database']> => {
  if (options.database.engine === 'sqlite' && !existsSync(options.database.path)) return undefined;
  const path = join(folder, databaseName);
  try {
    const schemaVersion = await copyStore(options, path);
    if (!options.secrets) forgetAccountValues(path, options.plainAccounts);
    checkCopy(path, schemaVersion);
    return { path, schemaVersion };
  } catch (error) {
    // Exactly then everything else is to be saved.
    if (options.database.engine === 'sqlite' && error instanceof StoreError && error.code === 'corrupt') return 'damaged';
    throw error;
  }
};

/** Writes everything of a home into one file, beside a gateway that may be at work. The file is there whole or not at all. */
export const writeBackup = async (options: BackupOptions): Promise<Backup> => {
  const { file, home } = options;
  await makeFolders(dirname(file));
  await sweepPartial(dirname(file), options.clock.now());
  const folder = await mkdtemp(join(dirname(file), '.partial-'));
  const hold = holdPartial(folder);
  try {
    const database = await copyForBackup(options, folder);
    const { files, leftOut } = await backupContents(home, options);
    const own = relative(home, file).split('\\').join('/');
    const partial = join(folder, 'archive');
    let archived: Archived | undefined;
    const content = archive(options, { files: files.filter(({ path }) => path !== own && (database !== 'damaged' || path !== damagedName)), database }, (made) => (archived = made));
    await pipeline(content, createGzip(), createWriteStream(partial, { mode: 0o600, flush: true }), { signal: options.signal });
    if (archived === undefined) throw new Error('the archive has no end');
    const { size } = await stat(partial);
    await giveToOwner(partial, dirname(file));
    await rename(partial, file);
    await syncFolder(dirname(file));
    const isDamaged = database === 'damaged';
    const lost = isDamaged ? [`the database (it is damaged${options.secrets ? `; its file as it is: ${damagedName}` : ''})`] : [];
    return { manifest: archived.manifest, sizeBytes: size, leftOut: [...lost, ...leftOut, ...archived.cut], isDamaged };
  } catch (error) {
    throw nameFile(error, file);
  } finally {
    hold.release();
    await rm(folder, { recursive: true, force: true });
  }
};
