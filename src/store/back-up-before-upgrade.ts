import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { checkCopy, copyDatabase } from './copy-database.ts';
import { openUnchanged, sqliteVersion } from './inspect.ts';
import { schemaVersion } from './migrations.ts';
import { sqliteError } from './sqlite-dialect.ts';

/** So many copies of this kind stay. */
const keep = 3;

const isCopy = (name: string): boolean => /^gateway-schema-\d+-\d{8}T\d{9}Z\.db$/.test(name);

const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:.]/g, '');

const versionOf = (path: string): number => {
  const db = openUnchanged(path);
  try {
    return sqliteVersion(db);
  } finally {
    db.close();
  }
};

const isDue = (path: string): boolean => {
  if (!existsSync(path)) return false;
  try {
    const version = versionOf(path);
    return version > 0 && version < schemaVersion;
  } catch (error) {
    if (sqliteError(error).code === 'failed') throw error;
    // What cannot even be looked at is for whoever opens it to explain.
    return false;
  }
};

const removeOld = async (folder: string): Promise<void> => {
  const old = (await readdir(folder)).filter(isCopy).toSorted((a, b) => b.slice(-23).localeCompare(a.slice(-23))).slice(keep);
  for (const name of old) await rm(join(folder, name));
};

const copyInto = async (path: string, folder: string, atMs: number): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const partial = await mkdtemp(join(folder, '.partial-'));
  try {
    const copy = join(partial, 'gateway.db');
    const version = await copyDatabase(path, copy);
    checkCopy(copy, version);
    const kept = join(folder, `gateway-schema-${version}-${stamp(atMs)}.db`);
    await rename(copy, kept);
    return kept;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
};

/** Copies a database of an earlier version into `backups` beside it and reads the copy once; without a whole copy there is no upgrade. */
export const backUpBeforeUpgrade = async (options: { readonly path: string; readonly clock: Clock; readonly log: Logger }): Promise<void> => {
  const { path, clock, log } = options;
  if (!isDue(path)) return;
  const folder = join(dirname(path), 'backups');
  try {
    const copy = await copyInto(path, folder, clock.now());
    log.info({ copy, to: schemaVersion }, 'store.backed_up_before_upgrade');
    await removeOld(folder);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(error instanceof StoreError ? error.code : 'failed', `${path} has to be upgraded for this version of hermes, and the copy that is made of it before could not be made (${reason}). Make room in ${folder}, or make it writable, and start again.`, { cause: error });
  }
};
