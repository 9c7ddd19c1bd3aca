import { writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareHome, resolveHome } from '../config/home.ts';
import { lockFolderOf } from '../config/state-folder.ts';
import { ConfigError, StoreError } from '../core/errors.ts';
import { Gateway } from '../gateway/gateway.ts';
import { httpApp } from '../http/app.ts';
import { newLogins } from '../http/logins.ts';
import type { Logins } from '../http/logins.ts';
import { addProcessMetrics } from '../http/metrics.ts';
import { ensureBuilt } from '../http/ensure-built.ts';
import { holdPort } from '../http/hold-port.ts';
import type { PortHold } from '../http/hold-port.ts';
import { loadPage } from '../http/page.ts';
import { startHttp } from '../http/server.ts';
import type { RunningHttp } from '../http/server.ts';
import { actRecorder, recordAct } from '../lib/audit-log.ts';
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
import type { UpgradeProgress } from '../store/upgrade-copy.ts';
import { consoleLine } from './console-line.ts';
import type { Terminal } from './environment.ts';
import { followConfig } from './follow-config.ts';
import type { EndWish } from './gateway/end-wish.ts';
import { untilWished } from './gateway/follow-wishes.ts';
import { forgetConfigNote, noteConfig } from './gateway/config-note.ts';
import { endFacts, endWithin, logCrashes, reportOnDemand } from './gateway/forensics.ts';
import { watchLoop } from './gateway/loop-watchdog.ts';
import { rememberHome } from './gateway/known-homes.ts';
import { notifySystemd } from './gateway/notify-systemd.ts';
import type { SystemdNotice } from './gateway/notify-systemd.ts';
import { findPredecessor, handOver } from './gateway/hand-over.ts';
import type { Here, Predecessor } from './gateway/hand-over.ts';
import { takePlannedEnd } from './gateway/planned-end.ts';
import type { PlannedEnd } from './gateway/planned-end.ts';
import { noteOrderlyEnd, noteStart } from './gateway/start-brake.ts';
import { storeOf, upgradeText } from './open-home.ts';
import { openLog } from './open-log.ts';
import { keepConfig } from './keep-config.ts';
import { migrateAtStart } from './migrate-at-start.ts';
import { outsideOf } from './outside.ts';
import { readinessOf } from './readiness.ts';
import { canRestart, isSupervised, restartProcess } from './restart-process.ts';
import { pruneCompileCache } from './prune-compile-cache.ts';
import { releaseMemoryOfStart } from './release-memory.ts';
import { reportConfig } from './report-config.ts';
import { gatewayConfig, requireStartable } from './settings.ts';
import type { Config } from './settings.ts';
import { welcome } from './welcome.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Why the gateway ends. */
type Ending = NodeJS.Signals | PlannedEnd | EndWish['end'];

interface Running {
  readonly gateway: Gateway;
  readonly http: RunningHttp;
  readonly store: Store;
  readonly logins: Logins;
}

interface Parts {
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

/**
 * The HTTP door is opened first: a port that is taken has to be said before any platform is told that we are here. Beside another gateway it is
 * opened last: no platform is told yet, and whoever comes in has to find everything ready.
 */
const startAll = async (terminal: Terminal, config: Config, parts: Parts): Promise<Running> => {
  const { home, log, redactor, port, isBeside } = parts;
  const clock = systemClock;
  const metrics = newMetrics({ onError: (error) => log.warn({ err: error }, 'metrics.failed') });
  addProcessMetrics(metrics, terminal.version);
  await ensureBuilt({ root, log });
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
  const open = (): Promise<RunningHttp> => startHttp({ options: config.sections.http, app, sharing: port.sharing });
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

/** So long gateways of an earlier version may take to leave a database that has to be upgraded: they may be draining, or have died without a word. */
const olderMs = 120_000;

/** A part of an upgrade is over, or says so again, well before that. */
const upgradeStepMs = 60_000;

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
const takeHome = async (home: string): Promise<FileLock> => {
  for (let attempt = 1; ; attempt += 1) {
    const lock = lockHome(home);
    if (lock !== undefined) return lock;
    if (attempt === 10) throw new ConfigError(`Another gateway is already running in ${home}, or an open terminal chat hosts one. End it (hermes gateway stop), take its place (hermes gateway run --replace), or set HERMES_HOME to another folder.`, { mayPass: true });
    await systemClock.sleep(100);
  }
};

/** What this process has for itself alone; the kernel takes it back if the process dies before. */
const newHolds = (terminal: Terminal, at: { readonly home: string; readonly port: number }): { readonly port: PortHold; home: FileLock | undefined } & Disposable => {
  const port = holdPort(lockFolderOf(terminal.env), at);
  return {
    port,
    home: undefined,
    [Symbol.dispose]() {
      port.release();
      this.home?.release();
      this.home = undefined;
    },
  };
};

/** Whoever cannot take over leaves nothing running. */
const takeOver = async (running: Running, from: Predecessor, here: Here & { readonly log: Logger }): Promise<FileLock> => {
  here.log.info({ from: from.pid }, 'gateway.takes_over');
  try {
    return await handOver(running.gateway, from, here);
  } catch (error) {
    await stopAll(running, 'SIGTERM');
    throw error;
  }
};

/** Whoever is started again and again by a service manager, and dies each time, waits longer and longer. */
const brake = async (terminal: Terminal, at: { readonly home: string; readonly log: Logger; readonly ended: Promise<unknown>; readonly service: SystemdNotice }): Promise<void> => {
  const { home, log, ended, service } = at;
  if (!isSupervised(terminal.env)) return;
  const waitMs = await noteStart(home, systemClock.now());
  if (waitMs === 0) return;
  log.error({ wait_ms: waitMs }, 'gateway.started_too_often');
  service.waiting(`Died too often; waits ${waitMs / 1000} s before it starts`);
  const enough = new AbortController();
  await Promise.race([ended, slept(systemClock, waitMs, enough.signal)]);
  enough.abort();
};

/** Everything that was begun ends in order; what is left continues after the next start, or with whoever takes over. */
const stopAll = async ({ gateway, http, store }: Running, why: Ending): Promise<void> => {
  // Somebody else listens there already, and goes on at once with what is put down here.
  if (why === 'replaced') await http.stopListening();
  await gateway.stop({ tellChats: why !== 'replaced' });
  await http.close();
  await store.close();
};

export interface RunOptions {
  readonly replace?: boolean;
  /** Nobody looks at what it prints once it has started, and a file that nobody looks at must not grow. */
  readonly background?: boolean;
}

/** `hermes gateway run`: the gateway in the foreground until a signal ends it, or an admin wants it to start anew. */
export const runGateway = async (terminal: Terminal, options: RunOptions = {}): Promise<void> => {
  const home = resolveHome(terminal.env);
  // In a container there is nobody else, and volumes belong to whom their driver says.
  await prepareHome(home, { refuseOpen: terminal.env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] !== 'container' });
  const redactor = terminal.redactor ?? newRedactor();
  const migrated = await migrateAtStart(terminal, home);
  const startable = await requireStartable(terminal, redactor);
  const { config } = startable;
  using held = newHolds(terminal, { home, port: config.sections.http.port });
  const here = { home, config, port: held.port };
  const predecessor = options.replace === true ? await findPredecessor(here) : undefined;
  if (predecessor === undefined) held.home = await takeHome(home);
  let isQuiet = false;
  const { log, close } = openLog(terminal, { home, redactor }, (line) => {
    if (isQuiet) return;
    const short = consoleLine(line, terminal);
    if (short !== undefined) terminal.writeError(short);
  });
  using service = notifySystemd(terminal.env, log);
  using _crashes = logCrashes(log, close);
  reportOnDemand(home, { log, redact: (text) => redactor.redact(text) });
  const stopWatching = new AbortController();
  let why: Ending | undefined;
  let askedBy: string | undefined;
  try {
    const restart = Promise.withResolvers<'restart'>();
    const ended = Promise.race([untilSignal(), restart.promise]);
    const leaving = new AbortController();
    void ended.then(() => leaving.abort(new StoreError('unavailable', 'Told to end before the database was upgraded; it is as it was.')));
    reportConfig({ log, audit: actRecorder((act) => recordAct(home, act, systemClock.now()), log) }, startable, migrated);
    await brake(terminal, { home, log, ended, service });
    const running = await startAll(terminal, config, { home, log, redactor, port: held.port, isBeside: predecessor !== undefined, leaving: leaving.signal, restart: (by) => { askedBy = by; restart.resolve('restart'); }, onUpgrade: (progress) => service.waiting(upgradeText(progress), upgradeStepMs) });
    if (predecessor !== undefined) held.home = await takeOver(running, predecessor, { ...here, log });
    await rememberHome(terminal.env, home).catch((error: unknown) => log.warn({ err: error }, 'home.not_remembered'));
    writeFileSync(join(home, 'gateway.pid'), `${process.pid}\n`, { mode: 0o600 });
    noteConfig(home, startable.type === 'current');
    log.info({ home, url: running.http.url, pid: process.pid, version: terminal.version, start_ms: Math.round(process.uptime() * 1000) }, 'gateway.started');
    const watching = followConfig(terminal, config, { home, log, redactor, gateway: running.gateway, configOf: gatewayConfig, onUsable: (isUsable) => noteConfig(home, isUsable), signal: stopWatching.signal });
    if (startable.type === 'current') await keepConfig(terminal, home, { log, commands: terminal.commands });
    await welcome(terminal, { config, home, url: running.http.url, logins: running.logins });
    service.ready(`Runs at ${running.http.url}`);
    releaseMemoryOfStart();
    const pruning = pruneCompileCache(log, stopWatching.signal);
    isQuiet = options.background === true;
    // Not before: to bring a large database up to date is one long step.
    using _loop = watchLoop(join(home, 'logs'), log);
    const wished = untilWished({ home, pid: process.pid, store: running.store, clock: systemClock, log, signal: stopWatching.signal });
    why = (await Promise.race([ended, wished])) ?? 'SIGTERM';
    const planned = why === 'SIGTERM' ? takePlannedEnd(home, process.pid) : undefined;
    why = planned?.end ?? why;
    const endMs = config.sections.agent.restart_drain_timeout * 1000 + endMarginMs;
    service.stopping(`Ends (${why}); ${running.gateway.runningTurns} running turns get their time`, endMs + 5000);
    log.info(endFacts(why, { env: terminal.env, running: running.gateway.running(), askedBy: planned?.askedBy ?? askedBy }), 'gateway.stopping');
    using _budget = endWithin(endMs, log);
    stopWatching.abort();
    await watching;
    await pruning;
    await stopAll(running, why);
    rmSync(join(home, 'gateway.pid'), { force: true });
    forgetConfigNote(home);
    noteOrderlyEnd(home);
    log.info({}, 'gateway.stopped');
  } finally {
    stopWatching.abort();
    await close();
  }
  held[Symbol.dispose]();
  if (why === 'restart') restartProcess(terminal.env);
};
