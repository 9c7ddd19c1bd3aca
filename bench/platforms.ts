import { setTimeout as sleep } from 'node:timers/promises';
import { platforms } from '../src/platforms/registry.ts';
import type { PlatformSimulator } from '../src/platforms/simulator.ts';
import { startTelegramSimulator } from '../src/platforms/telegram/simulator.ts';
import { newHome, residentBytes, spawnGateway, untilReady } from './gateway-process.ts';
import type { GatewayProcess, Home } from './gateway-process.ts';
import { talk } from './load.ts';
import { echo, startModelServer } from './model-server.ts';
import { median, quantile } from './quantile.ts';

export interface PlatformsPlan {
  readonly times: number;
  readonly restMs: number;
  readonly storm: { readonly calmMessages: number; readonly stormChats: number; readonly stormMessages: number };
}

export interface WeightResult {
  readonly configured: 'none' | 'all five';
  readonly startMs: number;
  readonly restingBytes: number;
  /** Against none. */
  readonly ratio: { readonly start: number; readonly memory: number };
}

export interface StormResult {
  readonly alone: { readonly p50Ms: number; readonly p99Ms: number };
  readonly beside: { readonly p50Ms: number; readonly p99Ms: number };
  readonly stormPerSecond: number;
  readonly ratio: { readonly p50: number; readonly p99: number };
}

export interface PlatformsResult {
  readonly weight: readonly WeightResult[];
  readonly storm: StormResult;
}

const five = ['discord', 'slack', 'matrix', 'email', 'webhook'];

const simulateFive = async (): Promise<{ readonly options: Readonly<Record<string, unknown>> } & AsyncDisposable> => {
  const simulators = new Map<string, PlatformSimulator>();
  for (const platform of platforms) if (five.includes(platform.name)) simulators.set(platform.name, await platform.simulate());
  return {
    options: Object.fromEntries([...simulators].map(([name, simulator]) => [name, { ...simulator.options, allow_all_users: true }])),
    async [Symbol.asyncDispose]() {
      for (const simulator of simulators.values()) await simulator[Symbol.asyncDispose]();
    },
  };
};

const startIn = async (home: Home): Promise<{ readonly gateway: GatewayProcess; readonly ms: number }> => {
  const startedMs = performance.now();
  const gateway = spawnGateway(home.folder);
  const url = await gateway.started();
  if (url === undefined) throw new Error(`the gateway did not start:\n${gateway.output()}`);
  await untilReady(gateway, url);
  return { gateway, ms: performance.now() - startedMs };
};

const weigh = async (options: Readonly<Record<string, unknown>>, plan: PlatformsPlan): Promise<{ readonly startMs: number; readonly restingBytes: number }> => {
  await using home = await newHome({ platforms: options, http: { port: 0 } });
  const times: number[] = [];
  let restingBytes = 0;
  for (let i = 0; i <= plan.times; i += 1) {
    const { gateway, ms } = await startIn(home);
    // The first one makes the home.
    if (i > 0) times.push(ms);
    if (i === plan.times) {
      await sleep(plan.restMs);
      restingBytes = residentBytes(gateway.pid) ?? 0;
    }
    await gateway.end('SIGTERM');
  }
  return { startMs: median(times), restingBytes };
};

const measureWeight = async (plan: PlatformsPlan): Promise<readonly WeightResult[]> => {
  await using simulated = await simulateFive();
  const none = await weigh({}, plan);
  const all = await weigh(simulated.options, plan);
  return [
    { configured: 'none', ...none, ratio: { start: 1, memory: 1 } },
    { configured: 'all five', ...all, ratio: { start: all.startMs / none.startMs, memory: all.restingBytes / none.restingBytes } },
  ];
};

/** One account is flooded, and its platform limits its rate, while somebody talks on another. */
const measureStorm = async ({ storm }: PlatformsPlan): Promise<StormResult> => {
  await using calm = await startTelegramSimulator();
  await using flooded = await startTelegramSimulator({ token: `7000000002:simulated-token-${'B'.repeat(22)}` });
  await using model = await startModelServer(echo);
  await using home = await newHome({
    model: { provider: 'openai', default: 'bench', base_url: model.baseUrl, api_key: 'sk-bench' },
    auxiliary: { title_generation: { enabled: false } },
    platforms: { telegram: { ...calm.options, allow_all_users: true, accounts: { flooded: { ...flooded.options, allow_all_users: true } } } },
    http: { port: 0 },
  });
  const { gateway } = await startIn(home);
  const speak = async (): Promise<{ p50Ms: number; p99Ms: number }> => {
    const { latenciesMs } = await talk(calm, { chats: 1, messages: storm.calmMessages });
    return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) };
  };
  try {
    await speak();
    const alone = await speak();
    flooded.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 1000 }, count: 20 });
    const flood = talk(flooded, { chats: storm.stormChats, messages: storm.stormMessages, refuses: true });
    const beside = await speak();
    const { latenciesMs, elapsedMs } = await flood;
    return { alone, beside, stormPerSecond: (latenciesMs.length * 1000) / elapsedMs, ratio: { p50: beside.p50Ms / alone.p50Ms, p99: beside.p99Ms / alone.p99Ms } };
  } finally {
    await gateway.end('SIGTERM');
  }
};

/** What platforms cost that are not configured, and what the trouble of one account is to the others. */
export const measurePlatforms = async (plan: PlatformsPlan): Promise<PlatformsResult> => ({ weight: await measureWeight(plan), storm: await measureStorm(plan) });
