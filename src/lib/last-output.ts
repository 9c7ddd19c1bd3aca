import { setImmediate as oneTurn } from 'node:timers/promises';
import { slept } from './clock.ts';
import type { Clock } from './clock.ts';

const longestMs = 200;

/** Resolves when what a program that has ended wrote is read: when its streams have closed, or soon, because something it has left running may hold them open for ever. */
export const untilLastOutput = async (clock: Clock, closed: AbortSignal): Promise<void> => {
  await slept(clock, longestMs, closed);
  // After a standstill of this process the time is over before what was written meanwhile is read.
  await oneTurn();
};
