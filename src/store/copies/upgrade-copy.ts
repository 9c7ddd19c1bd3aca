import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { syncFile, syncFolder } from '../../lib/sync-folder.ts';
import { schemaVersion } from '../migrations.ts';
import { checkCopy } from './copy-database.ts';
import type { CopyOptions } from './copy-database.ts';

/** How far an upgrade is: told when something begins, and every few seconds while it lasts. */
export type UpgradeProgress =
  | { readonly step: 'waiting'; /** In words; undefined for another new one that is upgrading already. */ readonly older: string | undefined }
  | { readonly step: 'copying'; readonly done: number; readonly total: number }
  | { readonly step: 'upgrading'; readonly from: number; readonly to: number };

export interface UpgradeOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Off for whoever has made a copy in another way; without one that is whole there is no upgrade otherwise. */
  readonly copyBeforeUpgrade?: boolean | undefined;
  onUpgrade?(progress: UpgradeProgress): void;
  /** Ends waiting and copying; nothing is changed then. */
  readonly signal?: AbortSignal | undefined;
}

/** So many copies of this kind stay. */
const keep = 3;
const tellEveryMs = 5000;

const isCopy = (name: string): boolean => /^gateway-schema-\d+-\d{8}T\d{9}Z\.db$/.test(name);

const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:.]/g, '');

/** Whole percents, for people. */
export const percentOf = ({ done, total }: { readonly done: number; readonly total: number }): number => Math.floor((done / Math.max(1, total)) * 100);

const events = { waiting: 'store.upgrade_waits', copying: 'store.copying_before_upgrade', upgrading: 'store.upgrading' } as const;

/** Says how far it is, in the log and to whoever wants to know, without flooding them. */
export const newUpgradeTeller = ({ clock, log, onUpgrade }: UpgradeOptions): ((progress: UpgradeProgress) => void) => {
  let told: { readonly step: string; readonly atMs: number } | undefined;
  return (progress) => {
    if (told?.step === progress.step && clock.now() - told.atMs < tellEveryMs) return;
    told = { step: progress.step, atMs: clock.now() };
    const { step, ...facts } = progress;
    log.info(progress.step === 'copying' ? { percent: percentOf(progress) } : facts, events[step]);
    onUpgrade?.(progress);
  };
};

const removeOld = async (folder: string): Promise<void> => {
  const old = (await readdir(folder)).filter(isCopy).toSorted((a, b) => b.slice(-23).localeCompare(a.slice(-23))).slice(keep);
  for (const name of old) await rm(join(folder, name));
};

export interface UpgradeCopy {
  /** What is copied, as sentences name it. */
  readonly database: string;
  /** Where copies are kept. */
  readonly folder: string;
  /** A folder in it that nobody else uses now; what an interrupted copy has left there is removed. */
  readonly partial: string;
  /** Writes the copy into a new file; answers the version of its schema. */
  make(path: string, options: CopyOptions): Promise<number>;
}

const copyInto = async ({ folder, partial, make }: UpgradeCopy, options: UpgradeOptions): Promise<string> => {
  const tell = newUpgradeTeller(options);
  const aside = join(folder, partial);
  tell({ step: 'copying', done: 0, total: 1 });
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true, mode: 0o700 });
  try {
    const copy = join(aside, 'gateway.db');
    const version = await make(copy, { signal: options.signal, onProgress: (done, total) => tell({ step: 'copying', done, total }) });
    checkCopy(copy, version);
    options.signal?.throwIfAborted();
    const kept = join(folder, `gateway-schema-${version}-${stamp(options.clock.now())}.db`);
    // The upgrade lasts once it is done; what it can be taken back with has to as well.
    await syncFile(copy);
    await rename(copy, kept);
    await syncFolder(folder);
    return kept;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
};

const impossible = ({ database, folder }: UpgradeCopy, error: unknown): StoreError => {
  const reason = error instanceof Error ? error.message : String(error);
  const sentence = `${database} has to be upgraded for this version of hermes, and the copy that is made of it before could not be made (${reason}). Make room in ${folder}, or make it writable, and start again. If you have a backup of your own, set store.copy_before_upgrade to false.`;
  return new StoreError(error instanceof StoreError ? error.code : 'failed', sentence, { cause: error });
};

/** Keeps a copy of a database of an earlier version, read once from end to end. Rejects when there is none that is whole, unless none is wanted. */
export const keepUpgradeCopy = async (copy: UpgradeCopy, options: UpgradeOptions): Promise<void> => {
  const { log, signal } = options;
  if (options.copyBeforeUpgrade === false) {
    log.warn({ to: schemaVersion }, 'store.upgraded_without_copy');
    return;
  }
  try {
    const kept = await copyInto(copy, options);
    log.info({ copy: kept, to: schemaVersion }, 'store.backed_up_before_upgrade');
    await removeOld(copy.folder);
  } catch (error) {
    if (signal?.aborted === true || (error instanceof StoreError && error.code === 'corrupt')) throw error;
    throw impossible(copy, error);
  }
};
