import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sendSignal, writtenPid } from '../src/cli/gateway/process.ts';
import { freePort } from '../test/support/free-port.ts';
import { spawnGateway, untilReady } from './gateway-process.ts';
import type { StartedBy } from './gateway-process.ts';
import { median } from './quantile.ts';
import { newWorld, newWorldHome } from './world.ts';
import type { World } from './world.ts';

export interface StartResult {
  readonly by: StartedBy | 'bare node';
  readonly medianMs: number;
  readonly fastestMs: number;
  /** Against an empty script on the same Node. */
  readonly ratio: number;
}

/** With npm in between, the gateway is a grandchild: it is asked to end by the number that it writes down once it is ready. */
const endGateway = async (home: string): Promise<void> => {
  for (;;) {
    const written = writtenPid(home);
    if (written !== undefined) return void sendSignal(written.pid, 'SIGTERM');
    await sleep(5);
  }
};

/** From spawning to the first 200 of `/ready`, on a home that has been started before. */
const startOnce = async (home: string, port: number, by: StartedBy): Promise<number> => {
  const startedMs = performance.now();
  await using gateway = spawnGateway(home, { by });
  await untilReady(gateway, `http://127.0.0.1:${port}`);
  const ms = performance.now() - startedMs;
  await endGateway(home);
  while (gateway.isRunning()) await sleep(5);
  return ms;
};

const bareStart = async (): Promise<number> => {
  const startedMs = performance.now();
  await promisify(execFile)(process.execPath, ['-e', '']);
  return performance.now() - startedMs;
};

const hasNpm = async (): Promise<boolean> => {
  try {
    await promisify(execFile)('npm', ['--version']);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

const measureBy = async (world: World, by: StartedBy, times: number): Promise<readonly number[]> => {
  const port = await freePort();
  await using home = await newWorldHome(world, { port });
  await startOnce(home.folder, port, by);
  const samples: number[] = [];
  for (let i = 0; i < times; i += 1) samples.push(await startOnce(home.folder, port, by));
  return samples;
};

/** Time until the gateway is ready, started by the launcher and, where there is npm, by `npm start`, against a Node that does nothing. */
export const measureStart = async (times: number): Promise<readonly StartResult[]> => {
  await using world = await newWorld();
  const bare: number[] = [];
  for (let i = 0; i < times; i += 1) bare.push(await bareStart());
  const baselineMs = median(bare);
  const resultOf = (by: StartResult['by'], samples: readonly number[]): StartResult => ({ by, medianMs: median(samples), fastestMs: Math.min(...samples), ratio: median(samples) / baselineMs });
  const results = [resultOf('bare node', bare)];
  const ways: readonly StartedBy[] = (await hasNpm()) ? ['launcher', 'npm'] : ['launcher'];
  for (const by of ways) results.push(resultOf(by, await measureBy(world, by, times)));
  return results;
};
