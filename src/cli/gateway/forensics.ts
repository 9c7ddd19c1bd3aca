import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/variables.ts';
import type { Logger } from '../../lib/logger.ts';
import type { RunningNow } from '../../sessions/lanes.ts';
import { isServiceOfSystemd } from './restart-process.ts';

const longestCommand = 300;

/** The command line of a process, where the system tells. */
const commandOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, longestCommand);
  } catch {
    // There is no /proc, or the process is gone.
    return undefined;
  }
};

/** At most so many turns are described. */
const mostTurns = 20;

interface RunningFacts {
  readonly session: string;
  readonly turn: number;
  readonly account: string;
  readonly chat: string;
  readonly thread?: string;
  readonly since: string;
  readonly tools?: readonly string[];
}

const runningFacts = ({ sinceMs, tools, ...turn }: RunningNow): RunningFacts => ({ ...turn, since: new Date(sinceMs).toISOString(), ...(tools.length > 0 && { tools }) });

export interface EndFacts {
  readonly why: string;
  /** Who asked for it, where somebody said so. */
  readonly asked_by?: string;
  readonly running_turns: number;
  /** The oldest of them. */
  readonly running: readonly RunningFacts[];
  readonly uptime_s: number;
  readonly parent: { readonly pid: number; readonly command?: string };
  readonly under_systemd: boolean;
  readonly load: readonly number[];
  readonly rss_mb: number;
}

/** What one wants to know about the end of a process later: who may have asked for it, and what the machine was doing. */
export const endFacts = (why: string, at: { readonly env: Environment; readonly running: readonly RunningNow[]; readonly askedBy?: string | undefined }): EndFacts => {
  const command = commandOf(process.ppid);
  return {
    why,
    ...(at.askedBy !== undefined && { asked_by: at.askedBy }),
    running_turns: at.running.length,
    running: at.running.slice(0, mostTurns).map(runningFacts),
    uptime_s: Math.round(process.uptime()),
    parent: { pid: process.ppid, ...(command !== undefined && { command }) },
    under_systemd: isServiceOfSystemd(at.env),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
    rss_mb: Math.round(process.memoryUsage.rss() / 1_000_000),
  };
};

/** Threads have reports of their own in it, with the environment whatever is asked. */
const withoutEnvironment = (key: string, value: unknown): unknown => (key === 'environmentVariables' ? undefined : value);

/** Writes down where the process stands, for its owner alone; nothing of the environment is in it. */
export const writeReport = (home: string, redact: (text: string) => string, now: Date): string => {
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '.').slice(0, 19);
  const path = join(home, 'logs', `report.${stamp}.${process.pid}.json`);
  try {
    writeFileSync(path, redact(JSON.stringify(process.report.getReport(), withoutEnvironment, 2)), { mode: 0o600 });
  } catch (error) {
    // Half a report says nothing, and takes what a full disk has left.
    rmSync(path, { force: true });
    throw error;
  }
  return path;
};

/** SIGUSR2 writes such a report. */
export const reportOnDemand = (home: string, at: { readonly log: Logger; redact(text: string): string }): void => {
  if (process.platform === 'win32') return;
  process.on('SIGUSR2', () => {
    try {
      writeReport(home, at.redact, new Date());
    } catch (error) {
      at.log.warn({ err: error }, 'gateway.report_not_written');
    }
  });
};

/** Ends the process when an orderly end takes longer than it may; what is unfinished continues after the next start all the same. */
export const endWithin = (ms: number, log: Logger, exit: (code: number) => void = (code) => process.exit(code)): Disposable => {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo();
    log.fatal({ after_ms: ms, open: [...new Set(open)] }, 'gateway.hard_exit');
    // The log is written by the next turn of the event loop.
    setImmediate(() => exit(1));
  }, ms).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
};

const lastWordsMs = 1000;

/** An error that nobody caught ends the process, as it would without this; but its words go through the log, and with that through the redactor. */
export const logCrashes = (log: Logger, close: () => Promise<void>, exit: (code: number) => void = (code) => process.exit(code)): Disposable => {
  const crash = async (error: unknown): Promise<void> => {
    log.fatal({ err: error }, 'gateway.crashed');
    // Keeps the process alive: one that has nothing left to do would end as if all were well.
    const timer = setTimeout(() => exit(1), lastWordsMs);
    try {
      await close();
    } finally {
      clearTimeout(timer);
      exit(1);
    }
  };
  process.on('uncaughtException', crash);
  return { [Symbol.dispose]: () => void process.off('uncaughtException', crash) };
};
