import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockFolderOf } from '../../config/state-folder.ts';
import { Gateway } from '../../gateway/gateway.ts';
import { httpApp } from '../../http/app.ts';
import { ensureBuilt } from '../../http/ensure-built.ts';
import type { PortHold } from '../../http/hold-port.ts';
import { newLogins } from '../../http/logins.ts';
import type { Logins } from '../../http/logins.ts';
import { addProcessMetrics } from '../../http/metrics.ts';
import { loadPage } from '../../http/page.ts';
import { startHttp } from '../../http/server.ts';
import type { RunningHttp } from '../../http/server.ts';
import { actRecorder, recordAct } from '../../lib/audit-log.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { newMetrics } from '../../lib/metrics.ts';
import type { Redactor } from '../../lib/redact.ts';
import { platforms } from '../../platforms/registry.ts';
import { accountData } from '../../store/accounts/account-data.ts';
import type { UpgradeProgress } from '../../store/copies/upgrade-copy.ts';
import { measuredStore } from '../../store/measured-store.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { gatewayConfig } from '../configuration/settings.ts';
import type { Config } from '../configuration/settings.ts';
import type { Terminal } from '../environment.ts';
import { storeOf } from '../home/open-home.ts';
import { outsideOf } from '../process/outside.ts';
import { readinessOf } from '../readiness.ts';
import { canRestart } from './restart-process.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A gateway with its doors and its store. */
export interface Running {
  readonly gateway: Gateway;
  readonly http: RunningHttp;
  readonly store: Store;
  readonly logins: Logins;
}

export interface StartParts {
  readonly home: string;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly port: PortHold;
  /** Whether another gateway still runs in this home, from which this one takes over. */
  readonly isBeside: boolean;
  /** It is told to end while it still starts. */
  readonly leaving: AbortSignal;
  restart(askedBy: string): void;
  onUpgrade(progress: UpgradeProgress): void;
}

/** So long gateways of an earlier version may take to leave a database that has to be upgraded: they may be draining, or have died without a word. */
const olderMs = 120_000;

/**
 * The HTTP door is opened first: a port that is taken has to be said before any platform is told that we are here. Beside another gateway it is
 * opened last: no platform is told yet, and whoever comes in has to find everything ready.
 */
export const startAll = async (terminal: Terminal, config: Config, parts: StartParts): Promise<Running> => {
  const { home, log, redactor, port, isBeside } = parts;
  const clock = systemClock;
  const metrics = newMetrics({ onError: (error) => log.warn({ err: error }, 'metrics.failed') });
  addProcessMetrics(metrics, terminal.version);
  await ensureBuilt({ root, log, environment: terminal.env });
  const page = await loadPage(join(root, 'web', 'dist'));
  const store = measuredStore(await openStore({ ...storeOf(config.sections.store, home), clock, log, checkIntegrity: true, holdsHome: !isBeside, olderMs, onUpgrade: parts.onUpgrade, signal: parts.leaving }), metrics);
  const logins = newLogins({ store: accountData(store, 'http'), clock, token: config.sections.http.token });
  const tried = Promise.withResolvers<void>();
  const untilReceiving = async (account: string, signal: AbortSignal): Promise<void> => {
    await tried.promise;
    await gateway?.untilReceiving(account, signal);
  };
  let gateway: Gateway | undefined;
  const app = httpApp({ options: config.sections.http, version: terminal.version, clock, log, logins, metrics, readiness: () => readinessOf(gateway), webhook: (account) => gateway?.webhook(account), expects: (account) => gateway?.expects(account) ?? config.accounts.some((known) => known.account === account), untilReceiving, page, store, audit: actRecorder((act) => recordAct(home, act, clock.now()), log), platforms, api: { options: config.sections.api_server, gate: () => gateway?.api } });
  const open = (): Promise<RunningHttp> => startHttp({ options: config.sections.http, app, sharing: port.sharing, onError: (error) => log.error({ err: error }, 'http.connection_not_taken') });
  let http: RunningHttp | undefined;
  try {
    if (!isBeside) http = await open();
    const outside = outsideOf(terminal, home, canRestart(terminal.env) ? parts.restart : undefined);
    gateway = await Gateway.start({ home, config: gatewayConfig(config), platforms, store, alone: !isBeside, clock, log, metrics, version: terminal.version, redactor, outside, lockFolder: lockFolderOf(terminal.env) });
    tried.resolve();
    http ??= await open();
    return { gateway, http, store, logins };
  } catch (error) {
    tried.resolve();
    await http?.close();
    await gateway?.stop();
    await store.close();
    throw error;
  }
};

/** Everything that was begun ends in order; what is left continues after the next start, or with whoever takes over. */
export const stopAll = async ({ gateway, http, store }: Running, options: { readonly isReplaced: boolean }): Promise<void> => {
  // Somebody else listens there already, and goes on at once with what is put down here.
  if (options.isReplaced) await http.stopListening();
  await gateway.stop({ tellChats: !options.isReplaced });
  await http.close();
  await store.close();
};
