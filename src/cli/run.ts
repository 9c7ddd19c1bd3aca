import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { prepareHome, resolveHome } from '../config/home.ts';
import { StoreError } from '../core/errors.ts';
import { actRecorder, recordAct } from '../lib/audit-log.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { newRedactor } from '../lib/redact.ts';
import type { Redactor } from '../lib/redact.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import type { FileLock } from '../store/locks/file-lock.ts';
import { followConfig } from './configuration/follow-config.ts';
import { keepConfig } from './configuration/keep-config.ts';
import { migrateAtStart } from './configuration/migrate-at-start.ts';
import { reportConfig } from './configuration/report-config.ts';
import { gatewayConfig, requireStartable } from './configuration/settings.ts';
import { Exit } from './environment.ts';
import type { Terminal } from './environment.ts';
import { forgetConfigNote, noteConfig } from './gateway/config-note.ts';
import { emptyLongConsole } from './gateway/empty-long-console.ts';
import type { EndWish } from './gateway/end-wish.ts';
import { untilWished } from './gateway/follow-wishes.ts';
import { endFacts, endWithin, logCrashes, reportOnDemand } from './gateway/forensics.ts';
import { awaitSuccession, findPredecessor, handOver } from './gateway/hand-over.ts';
import type { Here, Predecessor } from './gateway/hand-over.ts';
import { newHolds } from './gateway/holds.ts';
import type { Holds } from './gateway/holds.ts';
import { rememberHome } from './gateway/known-homes.ts';
import { watchLoop } from './gateway/loop-watchdog.ts';
import { notifySystemd } from './gateway/notify-systemd.ts';
import type { SystemdNotice } from './gateway/notify-systemd.ts';
import { openLog } from './gateway/open-log.ts';
import { takePlannedEnd } from './gateway/planned-end.ts';
import type { PlannedEnd } from './gateway/planned-end.ts';
import { pruneCompileCache } from './gateway/prune-compile-cache.ts';
import { releaseMemoryOfStart } from './gateway/release-memory.ts';
import { restartAtOnce, restartProcess } from './gateway/restart-process.ts';
import { startAll, stopAll } from './gateway/start-all.ts';
import type { Running } from './gateway/start-all.ts';
import { brake, noteOrderlyEnd } from './gateway/start-brake.ts';
import { forgetStarting, noteStarting } from './gateway/start-note.ts';
import { onRestartSignal, untilSignal } from './gateway/until-signal.ts';
import { welcome } from './gateway/welcome.ts';
import { upgradeText } from './home/open-home.ts';
import { refuseRoot } from './home/root-in-home.ts';
import { consoleLine } from './process/console-line.ts';

export interface RunOptions {
  readonly replace?: boolean;
  /** Also in the home of somebody else. */
  readonly asRoot?: boolean;
  /** Nobody looks at what it prints once it has started, and a file that nobody looks at must not grow. */
  readonly background?: boolean;
}

/** Why the gateway ends, and who wanted it if somebody said so. */
interface Ending {
  readonly why: NodeJS.Signals | PlannedEnd | EndWish['end'];
  readonly askedBy?: string | undefined;
}

/** One life of a gateway. */
interface Life {
  readonly terminal: Terminal;
  readonly home: string;
  readonly redactor: Redactor;
  readonly startable: Awaited<ReturnType<typeof requireStartable>>;
  readonly log: Logger;
  readonly service: SystemdNotice;
  /** A signal, or an admin in a chat. */
  readonly asked: Promise<Ending>;
  /** Has started, and need not print any more. */
  hush(): void;
}

/** A part of an upgrade is over, or says so again, well before that. */
const upgradeStepMs = 60_000;

/** Beyond what running turns get: the last deliveries, connections that end, the store. */
const endMarginMs = 30_000;

/** Whoever cannot take over leaves nothing running. */
const takeOver = async (running: Running, from: Predecessor, here: Here & { readonly log: Logger }): Promise<FileLock> => {
  here.log.info({ from: from.pid }, 'gateway.takes_over');
  try {
    return await handOver(running.gateway, from, here);
  } catch (error) {
    await stopAll(running, { isReplaced: false });
    throw error;
  }
};

/** What a signal is for: whoever sends SIGTERM may have said so before. */
const meaningOf = (signal: NodeJS.Signals, home: string, log: Logger): Ending => {
  try {
    const planned = signal === 'SIGTERM' ? takePlannedEnd(home, process.pid) : undefined;
    return planned === undefined ? { why: signal } : { why: planned.end, askedBy: planned.askedBy };
  } catch (error) {
    // One that cannot open a file any more ends all the same, and in order.
    log.warn({ err: error }, 'gateway.plan_not_read');
    return { why: signal };
  }
};

const untilAsked = ({ home, log, asked }: Life, { store }: Running, signal: AbortSignal): Promise<Ending> => {
  const wished = untilWished({ home, pid: process.pid, store, clock: systemClock, log, signal });
  return Promise.race([asked, wished.then((end): Ending => ({ why: end ?? 'SIGTERM' }))]);
};

/** Everything that was begun ends in order, within its time. */
const end = async ({ terminal, home, log, service, startable }: Life, running: Running, at: { readonly ending: Ending; settled(): Promise<unknown> }): Promise<void> => {
  const { why, askedBy } = at.ending;
  const endMs = startable.config.sections.agent.restart_drain_timeout * 1000 + endMarginMs;
  service.stopping(`Ends (${why}); ${running.gateway.runningTurns} running turns get their time`, endMs + 5000);
  log.info(endFacts(why, { env: terminal.env, running: running.gateway.running(), askedBy }), 'gateway.stopping');
  // Whoever wanted it back gets it back, however it ends.
  using _budget = endWithin(endMs, log, why === 'restart' ? () => restartAtOnce(terminal.env) : undefined);
  await at.settled();
  await stopAll(running, { isReplaced: why === 'replaced' });
  rmSync(join(home, 'gateway.pid'), { force: true });
  forgetConfigNote(home);
};

/** From its start until somebody wants its end, and through that; answers why it ended. */
const live = async (life: Life, running: Running): Promise<Ending['why']> => {
  const { terminal, home, redactor, log, service } = life;
  const { type, config } = life.startable;
  const { url } = running.http;
  const over = new AbortController();
  await rememberHome(terminal.env, home).catch((error: unknown) => log.warn({ err: error }, 'home.not_remembered'));
  noteConfig(home, { isUsable: type === 'current', awaitingRestart: [] });
  await writeAtomically(join(home, 'gateway.pid'), `${process.pid}\n`);
  forgetStarting(home);
  log.info({ home, url, pid: process.pid, version: terminal.version, start_ms: Math.round(process.uptime() * 1000) }, 'gateway.started');
  const watching = followConfig(terminal, config, { home, log, redactor, gateway: running.gateway, configOf: gatewayConfig, onRead: (note) => noteConfig(home, note), signal: over.signal });
  try {
    if (type === 'current') await keepConfig(terminal, home, { log, commands: terminal.commands });
    await welcome(terminal, { config, home, url, logins: running.logins });
    service.ready(`Runs at ${url}`);
    releaseMemoryOfStart();
    life.hush();
    const pruning = pruneCompileCache(log, over.signal);
    // Not before: to bring a large database up to date is one long step.
    using _loop = watchLoop(join(home, 'logs'), log);
    const ending = await untilAsked(life, running, over.signal);
    const settled = (): Promise<unknown> => {
      over.abort();
      return Promise.all([watching, pruning]);
    };
    await end(life, running, { ending, settled });
    return ending.why;
  } finally {
    over.abort();
  }
};

/** What has to be there before anything is begun: the home, the configuration with its secrets, and whoever has to be taken over from. */
const prepare = async (terminal: Terminal, home: string, at: { readonly held: Holds; readonly redactor: Redactor; readonly replace: boolean }) => {
  const { held, redactor, replace } = at;
  // First of all: secrets may be long in coming, and whoever wants it to end has to find it meanwhile.
  if (!replace) await held.takeHome();
  const migrated = await migrateAtStart(terminal, home);
  const startable = await requireStartable(terminal, redactor);
  const { config } = startable;
  if (replace) held.succession = await awaitSuccession({ home, config });
  const here: Here = { home, config, port: held.takePort(config.sections.http.port) };
  const predecessor = replace ? await findPredecessor(here) : undefined;
  if (predecessor === undefined) await held.takeHome();
  return { migrated, startable, here, predecessor };
};

type Prepared = Awaited<ReturnType<typeof prepare>>;

interface Begun extends Omit<Life, 'startable'> {
  readonly held: Holds;
  restart(askedBy: string): void;
}

/** Starts what was prepared, and lets it live; answers why it ended. */
const begin = async (begun: Begun, { migrated, startable, here, predecessor }: Prepared): Promise<Ending['why']> => {
  const { terminal, home, redactor, log, service, asked, held } = begun;
  const leaving = new AbortController();
  void asked.then(() => leaving.abort(new StoreError('unavailable', 'Told to end before the database was upgraded; it is as it was.')));
  reportConfig({ log, audit: actRecorder((act) => recordAct(home, act, systemClock.now()), log) }, startable, migrated);
  const waiting: SystemdNotice['waiting'] = (words, moreMs) => {
    service.waiting(words, moreMs);
    if (held.home !== undefined) noteStarting(home, words);
  };
  await brake(terminal, { home, log, ended: asked, waiting });
  if (leaving.signal.aborted) return (await asked).why;
  const running = await startAll(terminal, here.config, { home, log, redactor, port: here.port, isBeside: predecessor !== undefined, leaving: leaving.signal, restart: begun.restart, onUpgrade: (progress) => waiting(upgradeText(progress), upgradeStepMs) });
  if (predecessor !== undefined) held.home = await takeOver(running, predecessor, { ...here, log });
  held.hasSucceeded();
  return live({ ...begun, startable }, running);
};

/** `hermes gateway run`: the gateway in the foreground until a signal ends it, or an admin wants it to start anew. */
export const runGateway = async (terminal: Terminal, options: RunOptions = {}): Promise<void> => {
  const home = resolveHome(terminal.env);
  if (options.background === true) emptyLongConsole();
  if (options.asRoot !== true) refuseRoot(terminal.env, home, { command: 'hermes gateway run', flag: '--as-root' });
  // In a container there is nobody else, and volumes belong to whom their driver says.
  await prepareHome(home, { refuseOpen: terminal.env['HERMES_GATEWAY_EXTERNAL_SUPERVISOR'] !== 'container' });
  const redactor = terminal.redactor ?? newRedactor();
  using held = newHolds(terminal, home);
  let isQuiet = false;
  const { log, close } = openLog(terminal, { home, redactor }, (lines) => {
    const short = isQuiet ? '' : lines.map((line) => consoleLine(line, terminal) ?? '').join('');
    if (short !== '') terminal.writeError(short);
  });
  let why: Ending['why'];
  let prepared: Prepared | Ending;
  try {
    using service = notifySystemd(terminal.env, log);
    using _crashes = logCrashes(log, close);
    // Before it has the home: whoever finds it there may send it any of these signals.
    reportOnDemand(home, { log, redact: (text) => redactor.redact(text) });
    const restart = Promise.withResolvers<Ending>();
    onRestartSignal(() => restart.resolve({ why: 'restart', askedBy: 'the signal SIGUSR1' }));
    const asked = Promise.race([untilSignal().then((signal) => meaningOf(signal, home, log)), restart.promise]);
    prepared = await Promise.race([prepare(terminal, home, { held, redactor, replace: options.replace === true }), asked]);
    if ('why' in prepared) {
      why = prepared.why;
      log.info(endFacts(why, { env: terminal.env, running: [], askedBy: prepared.askedBy }), 'gateway.stopping');
    } else {
      const begun: Begun = { terminal, home, redactor, log, service, asked, held, hush: () => (isQuiet = options.background === true), restart: (askedBy) => restart.resolve({ why: 'restart', askedBy }) };
      why = await begin(begun, prepared);
      noteOrderlyEnd(home);
    }
    log.info({}, 'gateway.stopped');
  } finally {
    await close();
  }
  held[Symbol.dispose]();
  if (why === 'restart') restartProcess(terminal.env);
  // What was being prepared, as a program that tells a secret, is not waited for.
  if ('why' in prepared) throw new Exit(0);
};
