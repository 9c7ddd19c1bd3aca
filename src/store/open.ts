import { dirname, join } from 'node:path';
import type { Channel, Store } from './store.ts';
import { backUpBeforeUpgrade } from './copies/back-up-before-upgrade.ts';
import { refuseHalfRestored, refuseUnloaded } from './copies/half-restored.ts';
import { SqliteStore } from './engines/sqlite.ts';
import type { UpgradeOptions } from './copies/upgrade-copy.ts';

export interface OpenOptions extends UpgradeOptions {
  /** `postgres://…`; without it the embedded store at `path` is used. */
  readonly databaseUrl?: string | undefined;
  /** A copy that is made before an upgrade goes into `backups` beside it, on either engine. */
  readonly path: string;
  readonly checkIntegrity: boolean;
  /** How long gateways of an earlier version on the same server may take to end before an upgrade is refused; not at all unless said. */
  readonly olderMs?: number;
  /** The caller has the lock of the home: no other gateway works on the file. */
  readonly holdsHome?: boolean;
  /** The caller brings rows of a backup to the server that others are kept from until they are there. */
  readonly loads?: boolean;
  readonly onNotify?: (channel: Channel, payload: string) => void;
}

/** Opens the store, bringing its schema up to date; what an earlier version has left is copied before that. A home that is half restored is refused. The PostgreSQL driver is loaded only when it is used. */
export const openStore = async (options: OpenOptions): Promise<Store> => {
  const { databaseUrl, path } = options;
  refuseHalfRestored(dirname(path));
  if (databaseUrl !== undefined) {
    if (options.loads !== true) refuseUnloaded(dirname(path));
    const { PostgresStore } = await import('./engines/postgres.ts');
    return PostgresStore.open({ ...options, url: databaseUrl, backups: join(dirname(path), 'backups') });
  }
  await backUpBeforeUpgrade(path, options);
  return new SqliteStore(options);
};
