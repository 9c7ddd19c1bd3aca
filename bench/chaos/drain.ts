import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startGateway } from '../gateway-process.ts';
import { isSettled, readStored } from './stored.ts';
import type { Stored } from './stored.ts';
import type { World } from './world.ts';

const drainMs = 180_000;

const settled = async (world: World, store: Store): Promise<void> => {
  const untilMs = Date.now() + drainMs;
  const isQuiet = async (): Promise<boolean> => Object.values(world.telegrams).every((telegram) => telegram.pending() === 0) && (await isSettled(store));
  while (!(await isQuiet()) && Date.now() < untilMs) await sleep(200);
};

/** One more start, without trouble, until nothing is left to do; then an orderly end, and what it left behind. */
export const drain = async (world: World, home: string): Promise<Stored> => {
  const gateway = await startGateway(home);
  const store = await openStore({ path: join(home, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    await settled(world, store);
    await gateway.end('SIGTERM');
    return await readStored(store);
  } finally {
    await gateway.end('SIGKILL');
    await store.close();
  }
};
