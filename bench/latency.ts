import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BareLoopOptions } from './bare-loop.ts';
import { talk } from './load.ts';
import type { Load, LoadResult } from './load.ts';
import { median, quantile } from './quantile.ts';
import { gatewayIn, newWorld } from './world.ts';
import type { World } from './world.ts';

export interface LatencyPlan {
  readonly loads: readonly Load[];
  /** The two take turns this often, so that what else the machine does hits both. */
  readonly rounds: number;
  readonly warmUp: Load;
}

export interface Speed {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LatencyResult {
  readonly chats: number;
  readonly messages: number;
  readonly gateway: Speed;
  readonly bare: Speed;
  /** Gateway against bare loop, the middle of the rounds. */
  readonly ratio: Speed;
}

const speedOf = (rounds: readonly LoadResult[]): Speed => {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return { perSecond: median(rounds.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length * 1000) / elapsedMs)), p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99) };
};

const startBareLoop = async (world: World): Promise<AsyncDisposable> => {
  const script = fileURLToPath(new URL('bare-loop.ts', import.meta.url));
  const options: BareLoopOptions = { telegramUrl: world.telegram.baseUrl, token: world.telegram.token, modelUrl: world.model.baseUrl };
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

const compare = async (worlds: { gateway: World; bare: World }, load: Load, rounds: number): Promise<LatencyResult> => {
  const gateway: LoadResult[] = [];
  const bare: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The model is sent the whole conversation, which a bot without storage does not have: each round begins new ones.
    const fresh = { ...load, firstChat: load.chats * 1000 + round * load.chats };
    bare.push(await talk(worlds.bare.telegram, fresh));
    gateway.push(await talk(worlds.gateway.telegram, fresh));
  }
  const pairs = gateway.map((result, i) => ({ gateway: speedOf([result]), bare: speedOf(bare.slice(i, i + 1)) }));
  const ratio = (of: (speed: Speed) => number): number => median(pairs.map((pair) => of(pair.gateway) / of(pair.bare)));
  return {
    chats: load.chats,
    messages: load.chats * load.messages * rounds,
    gateway: speedOf(gateway),
    bare: speedOf(bare),
    ratio: { perSecond: ratio(({ perSecond }) => perSecond), p50Ms: ratio(({ p50Ms }) => p50Ms), p99Ms: ratio(({ p99Ms }) => p99Ms) },
  };
};

/** Messages per second and the time from an update to its answer, of the gateway and of a bot without storage, in turns. */
export const measureLatency = async (plan: LatencyPlan): Promise<readonly LatencyResult[]> => {
  await using gatewayWorld = await newWorld();
  await using bareWorld = await newWorld();
  await using _gateway = await gatewayIn(gatewayWorld);
  await using _bare = await startBareLoop(bareWorld);
  const worlds = { gateway: gatewayWorld, bare: bareWorld };
  for (const { telegram } of [bareWorld, gatewayWorld]) await talk(telegram, plan.warmUp);
  const results: LatencyResult[] = [];
  for (const load of plan.loads) results.push(await compare(worlds, load, plan.rounds));
  return results;
};
