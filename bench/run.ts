import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { measureApi } from './api.ts';
import type { ApiPlan } from './api.ts';
import { measureContext } from './context.ts';
import type { ContextPlan } from './context.ts';
import { measureIdle } from './idle.ts';
import { measureLatency } from './latency.ts';
import type { LatencyPlan } from './latency.ts';
import { measureMemory } from './memory.ts';
import type { MemoryPlan } from './memory.ts';
import { measurePlatforms } from './platforms.ts';
import type { PlatformsPlan } from './platforms.ts';
import { printed } from './report.ts';
import type { Report } from './report.ts';
import { measureStart } from './start.ts';

interface Plan {
  readonly latency: LatencyPlan;
  readonly startTimes: number;
  readonly memory: MemoryPlan;
  readonly idle: { readonly seconds: number; readonly settleMs: number };
  readonly context: ContextPlan;
  readonly api: ApiPlan;
  readonly platforms: PlatformsPlan;
}

const full: Plan = {
  latency: { loads: [{ chats: 1, messages: 150 }, { chats: 50, messages: 40 }], rounds: 5, warmUp: { chats: 50, messages: 20 } },
  startTimes: 7,
  memory: { chats: 50, after: [1000, 5000, 10_000], restMs: 15_000 },
  idle: { seconds: 60, settleMs: 10_000 },
  context: { messages: [100, 100_000], times: 500 },
  api: { connections: [1, 32], calls: 1600, rounds: 5, warmUp: 800 },
  platforms: { times: 5, restMs: 5000, storm: { calmMessages: 300, stormChats: 30, stormMessages: 40 } },
};

const quick: Plan = {
  latency: { loads: [{ chats: 1, messages: 20 }, { chats: 10, messages: 4 }], rounds: 1, warmUp: { chats: 1, messages: 5 } },
  startTimes: 1,
  memory: { chats: 5, after: [20, 40], restMs: 100 },
  idle: { seconds: 1, settleMs: 0 },
  context: { messages: [100, 3000], times: 5 },
  api: { connections: [1, 4], calls: 20, rounds: 1, warmUp: 4 },
  platforms: { times: 1, restMs: 100, storm: { calmMessages: 10, stormChats: 5, stormMessages: 2 } },
};

const parts = ['latency', 'start', 'memory', 'idle', 'context', 'api', 'platforms'] as const;
type Part = (typeof parts)[number];

interface Options {
  readonly quick?: true;
  readonly json?: true;
  readonly only?: Part;
}

const examples = `
Every number stands beside a baseline from the same run: compare ratios, not times of different days.

Examples:
  npm run bench                       everything, a few minutes
  npm run bench -- --only latency     one part
  npm run bench -- --quick --json     a few seconds, to see that it works`;

const measure = async (options: Options): Promise<Report> => {
  const plan = options.quick === true ? quick : full;
  const wants = (part: Part): boolean => options.only === undefined || options.only === part;
  const idle = wants('idle') ? await measureIdle(plan.idle) : undefined;
  return {
    node: process.versions.node,
    cores: availableParallelism(),
    quick: options.quick === true,
    ...(wants('latency') && { latency: await measureLatency(plan.latency) }),
    ...(wants('start') && { start: await measureStart(plan.startTimes) }),
    ...(wants('memory') && { memory: await measureMemory(plan.memory) }),
    ...(idle !== undefined && { idle }),
    ...(wants('context') && { context: await measureContext(plan.context) }),
    ...(wants('api') && { api: await measureApi(plan.api) }),
    ...(wants('platforms') && { platforms: await measurePlatforms(plan.platforms) }),
  };
};

const options = new Command('bench')
  .description('Measure the gateway as people start it, against a bot without storage and a proxy without sense')
  .option('--quick', 'a few seconds instead of a few minutes')
  .option('--json', 'print the numbers as JSON')
  .addOption(new Option('--only <part>', 'measure one part').choices(parts))
  .addHelpText('after', examples)
  .parse()
  .opts<Options>();

const report = await measure(options);
console.log(options.json === true ? JSON.stringify(report, null, 2) : printed(report));
