import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ConfigError, StoreError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { giveToOwner } from '../lib/give-to-owner.ts';
import { refuseHalfRestored, unloadedNote } from '../store/copies/half-restored.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { lockHome } from '../store/locks/home-lock.ts';
import { countOpenWork, dropOpenWork, moveOpenFiles } from '../store/messages/open-work.ts';
import type { OpenWork } from '../store/messages/open-work.ts';
import { newerSchema, schemaVersion } from '../store/migrations.ts';
import { partOf } from './backup-contents.ts';
import { readBackup } from './read-backup.ts';
import type { Restorable } from './read-backup.ts';
import { chooseAside, moveIntoPlace, stagedIn } from './restore-moves.ts';

export interface RestoreOptions {
  readonly file: string;
  /** Exists already. */
  readonly home: string;
  readonly clock: Clock;
  /** What was under way when the backup was made is let go of, not taken up again. */
  readonly dropOpen: boolean;
  /** The caller puts the rows on a server afterwards; until then the home holds a note that says so. */
  readonly loadsDatabase?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Restored {
  readonly manifest: Restorable;
  /** Parts of the home that came out of the backup. */
  readonly parts: readonly string[];
  /** Where what they replaced is kept; undefined when nothing was. */
  readonly aside: string | undefined;
  readonly open: OpenWork | undefined;
}

/** What is added to what is there instead of taking its place: files of people have names of their own for good, and of logs only one is in a backup. */
export const isMerged = (part: string): boolean => part === 'logs' || part.split('/').at(-1) === 'media';

/** The database of the backup, checked and brought up to date while it is still aside. */
const prepareDatabase = async (path: string, options: RestoreOptions): Promise<OpenWork> => {
  const store = new SqliteStore({ path, clock: options.clock, checkIntegrity: true });
  let open: OpenWork;
  try {
    open = await store.read(countOpenWork);
    await store.write((tx) => (options.dropOpen ? dropOpenWork(tx, 'dropped when a backup was restored') : moveOpenFiles(tx, join(options.home, 'media'))));
  } finally {
    await store.close();
  }
  // The file alone is moved.
  if (existsSync(`${path}-wal`)) throw new StoreError('failed', `The database of ${options.file} could not be made ready. Nothing was changed; make room on the disk and try again.`);
  return open;
};

/** The name also says which of several is the newest. */
const asideName = (clock: Clock): string => `replaced-${new Date(clock.now()).toISOString().replaceAll(/[-:.]/g, '')}`;

const replace = async (options: RestoreOptions): Promise<Restored> => {
  const { file, home, clock, signal } = options;
  const folder = await mkdtemp(join(home, '.restore-'));
  try {
    const staged = stagedIn(folder);
    await mkdir(staged, { mode: 0o700 });
    const manifest = await readBackup(file, { into: staged, signal });
    if ((manifest.schemaVersion ?? 0) > schemaVersion) throw newerSchema(file, manifest.schemaVersion ?? 0);
    const database = join(staged, 'gateway.db');
    const open = existsSync(database) ? await prepareDatabase(database, options) : undefined;
    const parts = [...new Set(manifest.files.map(({ path }) => partOf(path)))].toSorted();
    const replaced = parts.filter((part) => !isMerged(part));
    if (options.loadsDatabase === true) await writeFile(unloadedNote(staged), file, { mode: 0o600 });
    const isNew = replaced.every((part) => !existsSync(join(home, part)));
    const aside = isNew ? join('backups', asideName(clock)) : await chooseAside(home, folder, asideName(clock));
    await giveToOwner(folder, home);
    signal?.throwIfAborted();
    await moveIntoPlace(home, folder, { format: 1, file, createdAt: manifest.createdAt, aside, replace: options.loadsDatabase === true ? [...replaced, basename(unloadedNote(home))] : replaced, add: manifest.files.map(({ path }) => path).filter((path) => isMerged(partOf(path))) });
    return { manifest, parts, aside: existsSync(join(home, aside)) ? join(home, aside) : undefined, open };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Puts a backup in the place of what is in a home, where no gateway may be running. Everything is checked before anything is moved, and what is replaced
 * is kept aside. All of it belongs to whoever has the home. If the process dies in between, the next look at the home finishes it. Throws a `ConfigError` or a `StoreError` that says what to do.
 */
export const restoreBackup = async (options: RestoreOptions): Promise<Restored> => {
  const lock = lockHome(options.home);
  if (lock === undefined) throw new ConfigError(`A gateway is running in ${options.home}, or an open terminal chat hosts one. End it first; a backup cannot take the place of what is in use.`);
  try {
    refuseHalfRestored(options.home);
    return await replace(options);
  } finally {
    lock.release();
  }
};
