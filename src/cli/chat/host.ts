import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Gateway } from '../../gateway/gateway.ts';
import type { GatewayConfig } from '../../gateway/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { newMetrics } from '../../lib/metrics.ts';
import type { Redactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import type { FileLock } from '../../store/locks/file-lock.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { followConfig } from '../configuration/follow-config.ts';
import { gatewayConfig } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';
import { openLog } from '../gateway/open-log.ts';
import { storeOf } from '../home/open-home.ts';
import { outsideOf } from '../process/outside.ts';

/** A gateway inside this process, for as long as the terminal is open. */
export interface Host {
  readonly store: Store;
  /** Lets what runs end for a while and puts the rest down; it goes on at the next start. */
  stop(): Promise<void>;
}

/** Only the terminal is connected. What came in on other platforms is answered as far as it can be, and delivered when a gateway runs. */
const terminalOnly = (config: Config, account: string): GatewayConfig => {
  const all = gatewayConfig(config);
  const others = [...all.accounts.map((each) => each.account), ...all.disabled.map((each) => each.account)].filter((each) => each !== account);
  return { settings: all.settings, accounts: all.accounts.filter((each) => each.account === account), disabled: [], elsewhere: others };
};

/** Starts a gateway under a lock that the caller holds. It writes to the log file only: the screen belongs to the conversation. */
export const hostGateway = async (terminal: Terminal, config: Config, at: { readonly home: string; readonly account: string; readonly redactor: Redactor; readonly lock: FileLock }): Promise<Host> => {
  const { home, account, redactor, lock } = at;
  const clock = systemClock;
  const { log, close } = openLog(terminal, { home, redactor });
  const stopFollowing = new AbortController();
  const leave = async (): Promise<void> => {
    stopFollowing.abort();
    await close();
    lock.release();
  };
  // Left behind by a gateway that was killed: the lock proves that it is gone.
  rmSync(join(home, 'gateway.pid'), { force: true });
  let store: Store | undefined;
  try {
    store = await openStore({ ...storeOf(config.sections.store, home), clock, log, checkIntegrity: true, holdsHome: true });
    const metrics = newMetrics({ onError: (error) => log.warn({ err: error }, 'metrics.failed') });
    const gateway = await Gateway.start({ home, config: terminalOnly(config, account), platforms, store, alone: true, clock, log, metrics, version: terminal.version, redactor, outside: outsideOf(terminal, home) });
    log.info({ home, pid: process.pid, version: terminal.version, terminal: true }, 'gateway.started');
    const following = followConfig(terminal, config, { home, log, redactor, gateway, configOf: (changed) => terminalOnly(changed, account), signal: stopFollowing.signal });
    return {
      store,
      async stop() {
        stopFollowing.abort();
        await following;
        await gateway.stop();
        await store?.close();
        log.info({}, 'gateway.stopped');
        await leave();
      },
    };
  } catch (error) {
    await store?.close();
    await leave();
    throw error;
  }
};
