import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepareHome, resolveHome } from '../../config/home.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { refuseHalfRestored } from '../../store/copies/half-restored.ts';
import { percentOf } from '../../store/copies/upgrade-copy.ts';
import type { UpgradeProgress } from '../../store/copies/upgrade-copy.ts';
import { openStore } from '../../store/open.ts';
import type { OpenOptions } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { readAlone, requireStartable } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';
import { requireHome } from './require-home.ts';
import { withScratchStore } from './scratch-store.ts';

export const storePath = (home: string): string => join(home, 'gateway.db');

type StoreSettings = Config['sections']['store'];

/** Where a home keeps its data and how it is upgraded, in the words of `openStore`. */
export const storeOf = (settings: StoreSettings, home: string): Pick<OpenOptions, 'databaseUrl' | 'path' | 'copyBeforeUpgrade'> => ({
  databaseUrl: settings.database_url,
  path: storePath(home),
  copyBeforeUpgrade: settings.copy_before_upgrade,
});

/** How far an upgrade of the database is, for whoever waits for it. */
export const upgradeText = (progress: UpgradeProgress): string => {
  switch (progress.step) {
    case 'waiting':
      return progress.older === undefined ? 'Another program is upgrading the database; waiting for it.' : `Waiting for gateways of the earlier version to end: ${progress.older}.`;
    case 'copying':
      return `Copying the database before it is upgraded: ${percentOf(progress)} %.`;
    case 'upgrading':
      return `Upgrading the database from schema ${progress.from} to ${progress.to}.`;
    default:
      return progress satisfies never;
  }
};

const storeSettings = async (terminal: Terminal): Promise<StoreSettings> => {
  const found = await requireStartable(terminal);
  if (found.type === 'last_good') terminal.writeError('The configuration cannot be used (hermes config check says why); this looks at what the last usable one names.\n');
  return found.config.sections.store;
};

const whereStored = async (terminal: Terminal): Promise<StoreSettings> => (await readAlone(terminal)).store ?? (await storeSettings(terminal));

const openBeside = async <T>(terminal: Terminal, settings: StoreSettings, work: (store: Store) => Promise<T>): Promise<T> => {
  const store = await openStore({ ...storeOf(settings, resolveHome(terminal.env)), clock: systemClock, log: silentLogger, checkIntegrity: false, onUpgrade: (progress) => terminal.writeError(`${upgradeText(progress)}\n`) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** Opens the store beside a gateway that may be running, for a command that may be the first to use this home. */
export const withStore = async <T>(terminal: Terminal, work: (store: Store) => Promise<T>): Promise<T> => {
  const settings = await whereStored(terminal);
  await prepareHome(resolveHome(terminal.env));
  return openBeside(terminal, settings, work);
};

/** The same as `withStore` for a command that looks at what there is, or takes some of it away: it makes neither a home nor a database, and where there is none yet it sees an empty one. */
export const lookIntoStore = async <T>(terminal: Terminal, work: (store: Store) => Promise<T>): Promise<T> => {
  const settings = await whereStored(terminal);
  if (settings.database_url !== undefined) return openBeside(terminal, settings, work);
  requireHome(terminal);
  const home = resolveHome(terminal.env);
  await prepareHome(home);
  if (existsSync(storePath(home))) return openBeside(terminal, settings, work);
  refuseHalfRestored(home);
  return withScratchStore(work);
};
