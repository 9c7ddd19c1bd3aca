import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { talk } from './load.ts';
import { gatewayIn, newWorld } from './world.ts';

export interface IdleResult {
  readonly seconds: number;
  /** Of processor time. */
  readonly cpuMs: number;
  /** Of one core. */
  readonly percent: number;
}

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

/** Processor time that a process has used; undefined where there is no /proc. */
const cpuMs = (pid: number): number | undefined => {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program may contain spaces; what follows it does not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
};

/** What a gateway costs that has spoken and now waits. Nothing where the system does not tell. */
export const measureIdle = async ({ seconds, settleMs }: { readonly seconds: number; readonly settleMs: number }): Promise<IdleResult | undefined> => {
  await using world = await newWorld();
  await using gateway = await gatewayIn(world);
  await talk(world.telegram, { chats: 5, messages: 4 });
  // What is loaded and collected after a start is over by then.
  await sleep(settleMs);
  const before = cpuMs(gateway.process.pid);
  const startedMs = performance.now();
  await sleep(seconds * 1000);
  const after = cpuMs(gateway.process.pid);
  if (before === undefined || after === undefined) return undefined;
  return { seconds, cpuMs: after - before, percent: (100 * (after - before)) / (performance.now() - startedMs) };
};
