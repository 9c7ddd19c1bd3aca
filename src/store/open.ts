import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Channel, Store } from './store.ts';
import { backUpBeforeUpgrade } from './back-up-before-upgrade.ts';
import { SqliteStore } from './sqlite.ts';

export interface OpenOptions {
  /** `postgres://…`; without it the embedded store at `path` is used. */
  readonly databaseUrl?: string | undefined;
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly checkIntegrity: boolean;
  readonly onNotify?: (channel: Channel, payload: string) => void;
}

/** Opens the store, bringing its schema up to date; a file is copied before that. The PostgreSQL driver is loaded only when it is used. */
export const openStore = async (options: OpenOptions): Promise<Store> => {
  if (options.databaseUrl !== undefined) {
    const { PostgresStore } = await import('./postgres.ts');
    return PostgresStore.open({ url: options.databaseUrl, log: options.log });
  }
  await backUpBeforeUpgrade(options);
  return new SqliteStore(options);
};
