import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InboundEvent } from '../core/message.ts';
import { manualClock } from '../lib/clock.ts';
import type { ManualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { telegramOptions } from '../platforms/telegram/options.ts';
import { startTelegramSimulator } from '../platforms/telegram/simulator.ts';
import type { TelegramSimulator } from '../platforms/telegram/simulator.ts';
import { accountData } from '../store/accounts/account-data.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import type { Store } from '../store/store.ts';
import { AccountSupervisor } from './supervise.ts';

export interface Scene extends AsyncDisposable {
  readonly simulator: TelegramSimulator;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly lines: readonly string[];
  readonly received: InboundEvent[];
  /** Somebody sets the clock. */
  setClock(ms: number): void;
  supervise(owner: string, options?: Readonly<Record<string, unknown>>, platform?: Platform): AccountSupervisor;
}

/** A Telegram, a store and a time that only moves when told. */
export const newScene = async (): Promise<Scene> => {
  const simulator = await startTelegramSimulator();
  const manual = manualClock(Date.now());
  let setMs = 0;
  const clock = { ...manual, now: () => manual.now() + setMs };
  const folder = await mkdtemp(join(tmpdir(), 'hermes-supervise-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock, checkIntegrity: false });
  const { log, lines } = capturingLogger();
  const received: InboundEvent[] = [];
  const supervisors: AccountSupervisor[] = [];
  return {
    simulator,
    clock,
    store,
    lines,
    received,
    setClock: (ms) => void (setMs += ms),
    supervise(owner, options = simulator.options, platform = telegram as Platform) {
      const supervisor = new AccountSupervisor({
        account: 'telegram',
        platform,
        context: { account: 'telegram', options: telegramOptions.parse(options), log, data: accountData(store, 'telegram'), home: folder, mediaFolder: folder },
        store,
        owner,
        clock,
        log,
        takesOver: owner === 'successor',
        redact: (text) => text,
        moved: async () => undefined,
        accept: async (event) => {
          received.push(event);
          return 'stored';
        },
        onUsable: () => undefined,
        onConnected: () => undefined,
      });
      supervisors.push(supervisor);
      supervisor.start();
      return supervisor;
    },
    async [Symbol.asyncDispose]() {
      for (const supervisor of supervisors) await supervisor.stop();
      await store.close();
      await simulator[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
};

/** How often a method was called. */
export const calls = (scene: Scene, method: string): number => scene.simulator.log.filter((call) => call.method === method).length;
/** Those that wait for something to happen; the first of a connection does not. */
export const polls = (scene: Scene): number => scene.simulator.log.filter((call) => call.method === 'getUpdates' && call.params['timeout'] !== 0).length;
export const hello = { chatId: '7', chatType: 'dm', senderId: '7', text: 'hello' } as const;
