import { join } from 'node:path';
import { prepareHome, resolveHome } from '../config/home.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Terminal } from './environment.ts';
import { requireStartable } from './settings.ts';

export const storePath = (home: string): string => join(home, 'gateway.db');

/** Opens the store beside a gateway that may be running, for a command that looks at it. */
export const withStore = async <T>(terminal: Terminal, work: (store: Store) => Promise<T>): Promise<T> => {
  const home = resolveHome(terminal.env);
  const { config, ...found } = await requireStartable(terminal);
  if (found.type === 'last_good') terminal.writeError('The configuration cannot be used (hermes config check says why); this looks at what the last usable one names.\n');
  await prepareHome(home);
  const store = await openStore({ databaseUrl: config.sections.store.database_url, path: storePath(home), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};
