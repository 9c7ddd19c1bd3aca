import { writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareHome, resolveHome } from '../config/home.ts';
import { lockFolderOf } from '../config/state-folder.ts';
import { ConfigError } from '../core/errors.ts';
import { Gateway } from '../gateway/gateway.ts';
import { httpApp } from '../http/app.ts';
import type { Readiness } from '../http/health.ts';
import { newLogins } from '../http/logins.ts';
import type { Logins } from '../http/logins.ts';
import { addProcessMetrics } from '../http/metrics.ts';
import { ensureBuilt } from '../http/ensure-built.ts';
import { loadPage } from '../http/page.ts';
import { startHttp } from '../http/server.ts';
import type { RunningHttp } from '../http/server.ts';
import { recordAct } from '../lib/audit-log.ts';
import { slept, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { newMetrics } from '../lib/metrics.ts';
import { newRedactor } from '../lib/redact.ts';
import type { Redactor } from '../lib/redact.ts';
import { platforms } from '../platforms/registry.ts';
import { accountData } from '../store/account-data.ts';
import { lockHome } from '../store/home-lock.ts';
import type { FileLock } from '../store/file-lock.ts';
import { measuredStore } from '../store/measured-store.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { consoleLine } from './console-line.ts';
import type { Terminal } from './environment.ts';
import { followConfig } from './follow-config.ts';
import { endFacts, endWithin, logCrashes, reportOnDemand, watchLoop } from './gateway/forensics.ts';
import { rememberHome } from './gateway/known-homes.ts';
import { notifySystemd } from './gateway/notify-systemd.ts';
import { takePlannedRestart } from './gateway/planned-restart.ts';
import { noteOrderlyEnd, noteStart } from './gateway/start-brake.ts';
import { stopGateway } from './gateway/stop.ts';
import { storePath } from './open-home.ts';
import { openLog } from './open-log.ts';
import { keepConfig } from './keep-config.ts';
import { migrateAtStart } from './migrate-at-start.ts';
import { outsideOf } from './outside.ts';
import { canRestart, isSupervised, restartProcess } from './restart-process.ts';
import { releaseMemoryOfStart } from './release-memory.ts';
import { reportConfig } from './report-config.ts';
import { gatewayConfig, requireStartable } from './settings.ts';
import type { Config } from './settings.ts';
import { welcome } from './welcome.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Running {
  readonly gateway: Gateway;
  readonly http: RunningHttp;
  readonly store: Store;
  readonly logins: Logins;
}

const readinessOf = (gateway: Gateway | undefined): Readiness => {
  const accounts = (gateway?.status() ?? []).map((status) => ({
    account: status.account,
    state: status.state,
    // Another gateway on the same database receives for it.
    standby: status.errorCode === 'held',
    ...(status.error !== null && { detail: status.error }),
    lastEvidenceMs: Math.max(status.lastEventAtMs ?? 0, status.lastAliveAtMs ?? 0, status.lastCallAtMs ?? 0),
  }));
  return { ready: gateway !== undefined && accounts.every(({ state, standby }) => state === 'connected' || state === 'paused' || standby), accounts };
};

/** The HTTP door is opened first: a port that is taken has to be said before any platform is told that we are here. */
const startAll = async (terminal: Terminal, config: Config, parts: { home: string; log: Logger; redactor: Redactor; restart(): void }): Promise<Running> => {
  const { home, log, redactor } = parts;
  const clock = systemClock;
  const metrics = newMetrics({ onError: (error) => log.warn({ err: error }, 'metrics.failed') });
  addProcessMetrics(metrics, terminal.version);
  await ensureBuilt({ root, log });
  const page = await loadPage(join(root, 'web', 'dist'));
  const store = measuredStore(await openStore({ databaseUrl: config.sections.store.database_url, path: storePath(home), clock, log, checkIntegrity: true }), metrics);
  const logins = newLogins({ store: accountData(store, 'http'), clock, token: config.sections.http.token });
  let gateway: Gateway | undefined;
  const app = httpApp({ options: config.sections.http, version: terminal.version, clock, log, logins, metrics, readiness: () => readinessOf(gateway), webhook: (account) => gateway?.webhook(account), expects: (account) => gateway?.expects(account) ?? config.accounts.some((known) => known.account === account), page, store, audit: (act) => recordAct(home, act, clock.now()), platforms, api: { options: config.sections.api_server, gate: () => gateway?.api } });
  let http: RunningHttp | undefined;
  try {
    http = await startHttp({ options: config.sections.http, app });
    const outside = outsideOf(terminal, home, canRestart(terminal.env) ? parts.restart : undefined);
    gateway = await Gateway.start({ home, config: gatewayConfig(config), platforms, store, alone: true, clock, log, metrics, version: terminal.version, redactor, outside, lockFolder: lockFolderOf(terminal.env) });
    return { gateway, http, store, logins };
  } catch (error) {
    await http?.close();
    await store.close();
    throw error;
  }
};

/** Beyond what running turns get: the last deliveries, connections that end, the store. */
const endMarginMs = 30_000;

/** npm and the terminal both pass a Ctrl-C on, so that one arrives as two. */
const sameSignalMs = 1000;

/** Resolves with the signal that asks the process to end. A second one, after a moment, ends it at once. */
const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let askedMs: number | undefined;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (askedMs !== undefined && systemClock.now() - askedMs > sameSignalMs) process.exit(1);
        askedMs ??= systemClock.now();
        resolve(name);
      });
    }
  });

/** Another command may hold the lock for a blink of an eye, to see whether a gateway runs. */
const takeHome = async (home: string): Promise<FileLock | undefined> => {
  for (let attempt = 1; ; attempt += 1) {
    const lock = lockHome(home);
    if (lock !== undefined || attempt === 10) return lock;
    await systemClock.sleep(100);
  }
};

/** Whoever is started again and again by a service manager, and dies each time, waits longer and longer. */
const brake = async (terminal: Terminal, at: { readonly home: string; readonly log: Logger; readonly ended: Promise<unknown> }): Promise<void> => {
  const { home, log, ended } = at;
  if (!isSupervised(terminal.env)) return;
  const waitMs = await noteStart(home, systemClock.now());
  if (waitMs === 0) return;
  log.error({ wait_ms: waitMs }, 'gateway.started_too_often');
  const enough = new AbortController();
  await Promise.race([ended, slept(systemClock, waitMs, enough.signal)]);
  enough.abort();
};

/** `hermes gateway run`: the gateway in the foreground until a signal ends it, or an admin wants it to start anew. */
export const runGateway = async (terminal: Terminal, options: { readonly replace?: boolean } = {}): Promise<void> => {
  const home = resolveHome(terminal.env);
  await prepareHome(home);
  const redactor = terminal.redactor ?? newRedactor();
  const migrated = await migrateAtStart(terminal, home);
  const startable = await requireStartable(terminal, redactor);
  const { config } = startable;
  if (options.replace === true) await stopGateway(home, { drainMs: config.sections.agent.restart_drain_timeout * 1000, force: true });
  const lock = await takeHome(home);
  if (lock === undefined) throw new ConfigError(`Another gateway is already running in ${home}, or an open terminal chat hosts one. End it, or set HERMES_HOME to another folder.`);
  const { log, close } = openLog(terminal, { home, redactor }, (line) => {
    const short = consoleLine(line, terminal);
    if (short !== undefined) terminal.writeError(short);
  });
  using service = notifySystemd(terminal.env, log);
  using _loop = watchLoop(log);
  using _crashes = logCrashes(log, close);
  reportOnDemand(home);
  const stopWatching = new AbortController();
  let why: NodeJS.Signals | 'restart' | undefined;
  try {
    const restart = Promise.withResolvers<'restart'>();
    const ended = Promise.race([untilSignal(), restart.promise]);
    reportConfig(log, startable, migrated);
    await brake(terminal, { home, log, ended });
    const running = await startAll(terminal, config, { home, log, redactor, restart: () => restart.resolve('restart') });
    await rememberHome(terminal.env, home).catch((error: unknown) => log.warn({ err: error }, 'home.not_remembered'));
    writeFileSync(join(home, 'gateway.pid'), `${process.pid}\n`, { mode: 0o600 });
    log.info({ home, url: running.http.url, pid: process.pid, version: terminal.version, start_ms: Math.round(process.uptime() * 1000) }, 'gateway.started');
    const watching = followConfig(terminal, config, { home, log, redactor, gateway: running.gateway, configOf: gatewayConfig, signal: stopWatching.signal });
    if (startable.type === 'current') await keepConfig(terminal, home, log);
    await welcome(terminal, { config, home, url: running.http.url, logins: running.logins });
    service.ready();
    releaseMemoryOfStart();
    why = await ended;
    if (why === 'SIGTERM' && takePlannedRestart(home, process.pid)) why = 'restart';
    service.stopping();
    log.info(endFacts(why, { env: terminal.env, runningTurns: running.gateway.runningTurns }), 'gateway.stopping');
    using _budget = endWithin(config.sections.agent.restart_drain_timeout * 1000 + endMarginMs, log);
    stopWatching.abort();
    await watching;
    await running.gateway.stop({ tellChats: true });
    await running.http.close();
    await running.store.close();
    rmSync(join(home, 'gateway.pid'), { force: true });
    noteOrderlyEnd(home);
    log.info({}, 'gateway.stopped');
  } finally {
    stopWatching.abort();
    await close();
    lock.release();
  }
  if (why === 'restart') restartProcess(terminal.env);
};
