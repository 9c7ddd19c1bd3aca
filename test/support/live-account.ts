import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connections } from '../../src/delivery/connections.ts';
import { DeliveryGate } from '../../src/delivery/gate.ts';
import { manualClock } from '../../src/lib/clock.ts';
import type { ManualClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import type { Platform } from '../../src/platforms/contract.ts';
import { telegram } from '../../src/platforms/telegram/index.ts';
import { startTelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../../src/platforms/telegram/simulator.ts';
import { SqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { openAccount } from './telegram-account.ts';

/** A Telegram account as delivery sees it, in a time that only moves when told. */
export interface LiveAccount extends AsyncDisposable {
  readonly simulator: TelegramSimulator;
  readonly connections: Connections;
  readonly gate: DeliveryGate;
  readonly clock: ManualClock;
  readonly store: Store;
}

export const openLiveAccount = async (): Promise<LiveAccount> => {
  const simulator = await startTelegramSimulator();
  const { adapter } = await openAccount(simulator);
  const clock = manualClock();
  const folder = await mkdtemp(join(tmpdir(), 'hermes-live-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock, checkIntegrity: false });
  const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
  return {
    simulator,
    connections: { names: () => ['telegram'], platform: () => telegram as Platform, adapter: () => adapter, succeeded: () => undefined },
    gate,
    clock,
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await simulator[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};
