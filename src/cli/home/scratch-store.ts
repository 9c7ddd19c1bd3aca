import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

/** An empty store in a folder of its own, outside of every home; both are gone when `work` has ended. */
export const withScratchStore = async <T>(work: (store: Store, folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-scratch-'));
  try {
    const store = await openStore({ path: join(folder, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
    try {
      return await work(store, folder);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
