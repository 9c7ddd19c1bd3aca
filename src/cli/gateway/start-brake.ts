import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { slept, systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import type { Terminal } from '../environment.ts';
import type { SystemdNotice } from './notify-systemd.ts';
import { isSupervised } from './restart-process.ts';

const fileOf = (home: string): string => join(home, 'gateway-starts.json');

const windowMs = 120_000;
const freeStarts = 5;
const baseMs = 5000;
const mostMs = 300_000;

/** One start of the process, and how long it has waited before it did anything. */
interface Start {
  readonly atMs: number;
  readonly waitMs: number;
}

const isStart = (value: unknown): value is Start => typeof value === 'object' && value !== null && 'atMs' in value && typeof value.atMs === 'number' && 'waitMs' in value && typeof value.waitMs === 'number';

/** Starts that have not come to an orderly end yet, oldest first. What cannot be read counts for none. */
const readStarts = (home: string): readonly Start[] => {
  try {
    const starts = JSON.parse(readFileSync(fileOf(home), 'utf8')) as unknown;
    return Array.isArray(starts) ? starts.filter(isStart) : [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
};

/** How many of the newest starts fall into the window. Waits do not count as time: otherwise long ones would push the starts before them out of it, and be forgotten. */
const countRecent = (starts: readonly Start[], nowMs: number): number => {
  let livedMs = 0;
  let laterMs = nowMs;
  let count = 0;
  for (const { atMs, waitMs } of starts.toReversed()) {
    livedMs += Math.max(0, laterMs - atMs - waitMs);
    if (livedMs >= windowMs) break;
    laterMs = atMs;
    count += 1;
  }
  return count;
};

/** How long a process should wait that is started now, after so many starts that have not ended in order. */
export const brakeMs = (before: readonly Start[], nowMs: number): number => {
  const excess = countRecent(before, nowMs) + 1 - freeStarts;
  return excess <= 0 ? 0 : Math.min(mostMs, baseMs * 2 ** Math.min(excess, 6));
};

/** Notes this start and answers how long to wait before anything else is done: a service that dies at once must not hammer platforms and models. */
export const noteStart = async (home: string, nowMs: number): Promise<number> => {
  const before = readStarts(home);
  const waitMs = brakeMs(before, nowMs);
  await writeAtomically(fileOf(home), JSON.stringify([...before, { atMs: nowMs, waitMs }].slice(-20)));
  return waitMs;
};

/** An orderly end forgets the starts before it. */
export const noteOrderlyEnd = (home: string): void => rmSync(fileOf(home), { force: true });

/** Whoever is started again and again by a service manager, and dies each time, waits longer and longer. */
export const brake = async (terminal: Terminal, at: { readonly home: string; readonly log: Logger; readonly ended: Promise<unknown>; readonly waiting: SystemdNotice['waiting'] }): Promise<void> => {
  const { home, log, ended, waiting } = at;
  if (!isSupervised(terminal.env)) return;
  const waitMs = await noteStart(home, systemClock.now());
  if (waitMs === 0) return;
  log.error({ wait_ms: waitMs }, 'gateway.started_too_often');
  waiting(`Died too often; waits ${waitMs / 1000} s before it starts`);
  const enough = new AbortController();
  await Promise.race([ended, slept(systemClock, waitMs, enough.signal)]);
  enough.abort();
};
