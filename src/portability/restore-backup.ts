import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../core/errors.ts';
import { mergeActs } from '../lib/audit-log.ts';
import type { Clock } from '../lib/clock.ts';
import { lockHome } from '../store/home-lock.ts';
import { newerSchema, schemaVersion } from '../store/migrations.ts';
import { countOpenWork, dropOpenWork } from '../store/open-work.ts';
import type { OpenWork } from '../store/open-work.ts';
import { SqliteStore } from '../store/sqlite.ts';
import { auditLog, partOf } from './backup-contents.ts';
import { readBackup } from './read-backup.ts';
import type { Restorable } from './read-backup.ts';

export interface RestoreOptions {
  readonly file: string;
  /** Exists already. */
  readonly home: string;
  readonly clock: Clock;
  /** What was under way when the backup was made is let go of, not taken up again. */
  readonly dropOpen: boolean;
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

interface Move {
  readonly from: string;
  readonly to: string;
}

/** What is added to what is there instead of taking its place: files of people have names of their own for good, and of logs only one is in a backup. */
export const isMerged = (part: string): boolean => part === 'logs' || part.split('/').at(-1) === 'media';

/** The database of the backup, checked and brought up to date while it is still aside. */
const prepareDatabase = async (path: string, options: RestoreOptions): Promise<OpenWork> => {
  const store = new SqliteStore({ path, clock: options.clock, checkIntegrity: true });
  try {
    const open = await store.read(countOpenWork);
    if (options.dropOpen) await store.write((tx) => dropOpenWork(tx, 'dropped when a backup was restored'));
    return open;
  } finally {
    await store.close();
  }
};

const planMoves = (manifest: Restorable, places: { readonly home: string; readonly staged: string; readonly aside: string }): readonly Move[] => {
  const { home, staged, aside } = places;
  const parts = new Set(manifest.files.map(({ path }) => (isMerged(partOf(path)) ? path : partOf(path))));
  const sidecars = parts.has('gateway.db') ? ['gateway.db-wal', 'gateway.db-shm'] : [];
  const away = [...[...parts].filter((part) => !isMerged(partOf(part))), ...sidecars].filter((part) => existsSync(join(home, part)));
  const here = [...parts].filter((part) => !isMerged(partOf(part)) || !existsSync(join(home, part)));
  return [...away.map((part) => ({ from: join(home, part), to: join(aside, part) })), ...here.map((part) => ({ from: join(staged, part), to: join(home, part) }))];
};

/** All of the moves or none. */
const moveAll = async (moves: readonly Move[]): Promise<void> => {
  const done: Move[] = [];
  try {
    for (const move of moves) {
      await mkdir(dirname(move.to), { recursive: true, mode: 0o700 });
      await rename(move.from, move.to);
      done.push(move);
    }
  } catch (error) {
    for (const { from, to } of done.toReversed()) await rename(to, from);
    throw error;
  }
};

const replace = async (options: RestoreOptions): Promise<Restored> => {
  const { file, home, clock } = options;
  const staged = await mkdtemp(join(home, '.restore-'));
  try {
    const manifest = await readBackup(file, { into: staged, signal: options.signal });
    if ((manifest.schemaVersion ?? 0) > schemaVersion) throw newerSchema(file, manifest.schemaVersion ?? 0);
    const database = join(staged, 'gateway.db');
    const open = existsSync(database) ? await prepareDatabase(database, options) : undefined;
    const aside = join(home, 'backups', `replaced-${new Date(clock.now()).toISOString().replaceAll(/[-:.]/g, '')}`);
    const moves = planMoves(manifest, { home, staged, aside });
    await moveAll(moves);
    // Both have happened: what is in the backup, and what was done here since.
    await mergeActs(home, join(staged, auditLog));
    const parts = [...new Set(manifest.files.map(({ path }) => partOf(path)))].toSorted();
    return { manifest, parts, aside: moves.some(({ to }) => to.startsWith(aside)) ? aside : undefined, open };
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
};

/**
 * Puts a backup in the place of what is in a home, where no gateway may be running. Everything is checked before anything is moved, and what is replaced
 * is kept aside. Throws a `ConfigError` or a `StoreError` that says what to do.
 */
export const restoreBackup = async (options: RestoreOptions): Promise<Restored> => {
  const lock = lockHome(options.home);
  if (lock === undefined) throw new ConfigError(`A gateway is running in ${options.home}, or an open terminal chat hosts one. End it first; a backup cannot take the place of what is in use.`);
  try {
    return await replace(options);
  } finally {
    lock.release();
  }
};
