import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';

const fileOf = (home: string): string => join(home, 'gateway-starting.json');

/** A gateway that has a home and does not run yet. */
export interface Starting {
  readonly pid: number;
  readonly sinceMs: number;
  /** What it is busy with, in words. */
  readonly doing: string;
}

const isStarting = (value: unknown): value is Starting => typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number' && 'sinceMs' in value && typeof value.sinceMs === 'number' && 'doing' in value && typeof value.doing === 'string';

/** Who has said last that it is starting; it may be dead by now. */
export const notedStart = (home: string): Starting | undefined => {
  try {
    const note = JSON.parse(readFileSync(fileOf(home), 'utf8')) as unknown;
    return isStarting(note) ? note : undefined;
  } catch (error) {
    // None was written, or it is being written at this moment.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** This process has the home and runs, or has given up. */
export const forgetStarting = (home: string): void => {
  if (notedStart(home)?.pid === process.pid) rmSync(fileOf(home), { force: true });
};

/** This process has the home and says what it is busy with until it runs. */
export const noteStarting = (home: string, doing: string): void => {
  const note: Starting = { pid: process.pid, sinceMs: Math.round(systemClock.now() - process.uptime() * 1000), doing };
  try {
    writeFileSync(fileOf(home), JSON.stringify(note), { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    // Whether it can start on a full disk others decide; what stands there now is cut off.
    rmSync(fileOf(home), { force: true });
  }
};
