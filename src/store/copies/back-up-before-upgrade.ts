import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { sqliteError } from '../engines/sqlite-dialect.ts';
import { openUnchanged, sqliteVersion } from '../inspect.ts';
import { isHomeTaken } from '../locks/home-lock.ts';
import { schemaVersion } from '../migrations.ts';
import { copyDatabase } from './copy-database.ts';
import { keepUpgradeCopy, newUpgradeTeller } from './upgrade-copy.ts';
import type { UpgradeOptions } from './upgrade-copy.ts';

const versionOf = (path: string): number => {
  const db = openUnchanged(path);
  try {
    return sqliteVersion(db);
  } finally {
    db.close();
  }
};

/** The version from which it has to be upgraded; undefined when it has not. */
const dueFrom = (path: string): number | undefined => {
  if (!existsSync(path)) return undefined;
  try {
    const version = versionOf(path);
    return version > 0 && version < schemaVersion ? version : undefined;
  } catch (error) {
    if (sqliteError(error).code === 'failed') throw error;
    // What cannot even be looked at is for whoever opens it to explain.
    return undefined;
  }
};

const stillThere = (path: string, from: number): StoreError =>
  new StoreError('busy', `${path} has to be upgraded for this version of hermes (schema ${from} to ${schemaVersion}), and a gateway of the earlier version still works on it. Start that anew with \`hermes gateway restart\`; then this works.`);

/** Copies a database file of an earlier version into `backups` beside it and reads the copy once; without a whole copy there is no upgrade, nor beside a gateway that works on it. */
export const backUpBeforeUpgrade = async (path: string, options: UpgradeOptions & { readonly holdsHome?: boolean }): Promise<void> => {
  const from = dueFrom(path);
  if (from === undefined) return;
  if (options.holdsHome !== true && isHomeTaken(dirname(path))) throw stillThere(path, from);
  // Two programs may find it at the same moment; then there are two copies.
  await keepUpgradeCopy({ database: path, folder: join(dirname(path), 'backups'), partial: `.partial-${randomUUID()}`, make: (to, copying) => copyDatabase(path, to, copying) }, options);
  newUpgradeTeller(options)({ step: 'upgrading', from, to: schemaVersion });
};
