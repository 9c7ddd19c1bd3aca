import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { slept, systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { writeAtomically } from '../../lib/write-atomically.ts';
import type { Terminal } from '../environment.ts';
import { isSupervised } from '../restart-process.ts';
import type { SystemdNotice } from './notify-systemd.ts';

const fileOf = (home: string): string => join(home, 'gateway-starts.json');

const windowMs = 120_000;
const freeStarts = 5;
const baseMs = 5000;
const mostMs = 300_000;

/** Starts that have not come to an orderly end yet, oldest first. What cannot be read counts for none. */
const readStarts = (home: string): readonly number[] => {
  try {
    const starts = JSON.parse(readFileSync(fileOf(home), 'utf8')) as unknown;
    return Array.isArray(starts) ? starts.filter((start) => typeof start === 'number') : [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
};

/** How long a process should wait that has been started so often without having ended in order. */
export const brakeMs = (starts: readonly number[], nowMs: number): number => {
  const excess = starts.filter((start) => nowMs - start < windowMs).length - freeStarts;
  return excess <= 0 ? 0 : Math.min(mostMs, baseMs * 2 ** Math.min(excess, 6));
};

/** Notes this start and answers how long to wait before anything else is done: a service that dies at once must not hammer platforms and models. */
export const noteStart = async (home: string, nowMs: number): Promise<number> => {
  const starts = [...readStarts(home), nowMs].slice(-20);
  await writeAtomically(fileOf(home), JSON.stringify(starts));
  return brakeMs(starts, nowMs);
};

/** An orderly end forgets the starts before it. */
export const noteOrderlyEnd = (home: string): void => rmSync(fileOf(home), { force: true });

/** Whoever is started again and again by a service manager, and dies each time, waits longer and longer. */
export const brake = async (terminal: Terminal, at: { readonly home: string; readonly log: Logger; readonly ended: Promise<unknown>; readonly service: SystemdNotice }): Promise<void> => {
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
