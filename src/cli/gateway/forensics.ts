import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/variables.ts';
import type { Logger } from '../../lib/logger.ts';

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

export interface EndFacts {
  readonly why: string;
  readonly running_turns: number;
  readonly uptime_s: number;
  readonly parent: { readonly pid: number; readonly command?: string };
  readonly under_systemd: boolean;
  readonly load: readonly number[];
  readonly rss_mb: number;
}

/** What one wants to know about the end of a process later: who may have asked for it, and what the machine was doing. */
export const endFacts = (why: string, at: { readonly env: Environment; readonly runningTurns: number }): EndFacts => {
  const command = commandOf(process.ppid);
  return {
    why,
    running_turns: at.runningTurns,
    uptime_s: Math.round(process.uptime()),
    parent: { pid: process.ppid, ...(command !== undefined && { command }) },
    under_systemd: (at.env['INVOCATION_ID'] ?? '') !== '',
    load: loadavg().map((value) => Math.round(value * 100) / 100),
    rss_mb: Math.round(process.memoryUsage.rss() / 1_000_000),
  };
};

/** SIGUSR2 writes a report with the stacks of all threads, also of one that is stuck; nothing of the environment is in it. */
export const reportOnDemand = (home: string): void => {
  if (process.platform === 'win32') return;
  process.report.directory = join(home, 'logs');
  process.report.excludeEnv = true;
  process.report.signal = 'SIGUSR2';
  process.report.reportOnSignal = true;
};

const lookEveryMs = 1000;
const blockedMs = 2000;

/** Says when nothing could run for a while: a step that takes long, or a machine that was asleep or out of breath. */
export const watchLoop = (log: Logger): Disposable => {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - last - lookEveryMs;
    last = now;
    if (lateMs > blockedMs) log.warn({ blocked_ms: Math.round(lateMs), load: loadavg()[0] }, 'loop.blocked');
  }, lookEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
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
    setTimeout(() => exit(1), lastWordsMs).unref();
    try {
      await close();
    } finally {
      exit(1);
    }
  };
  process.on('uncaughtException', crash);
  return { [Symbol.dispose]: () => void process.off('uncaughtException', crash) };
};
