import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { insertJob } from '../src/store/cron/cron-jobs.ts';
import { listRuns } from '../src/store/cron/cron-runs.ts';
import type { CronRun } from '../src/store/cron/cron-runs.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { startGateway } from './gateway-process.ts';
import { quantile } from './quantile.ts';
import { table } from './report.ts';
import { newWorld, newWorldHome } from './world.ts';

interface Options {
  readonly jobs: number;
  readonly json?: true;
}

/** Enough for the gateway to be there before they are due. */
const aheadMs = 5_000;
const patienceMs = 120_000;

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100_000) throw new InvalidArgumentError('a whole number from 1 to 100000');
  return value;
};

/** Jobs that are all due at the same moment. */
const schedule = (store: Store, jobs: number, dueMs: number): Promise<void> =>
  store.write(async (tx) => {
    for (let number = 1; number <= jobs; number += 1) {
      await insertJob(tx, {
        id: `bench${String(number).padStart(7, '0')}`,
        agent: 'main',
        nextAtMs: dueMs,
        settings: { name: `job ${number}`, prompt: `Say ${number}.`, display: 'every 1d', schedule: { kind: 'interval', minutes: 1440 }, zone: 'UTC', missed: 'once', overlap: 'skip', times: null, skills: [], deliver: 'local' },
      });
    }
  });

const untilOver = async (store: Store, jobs: number): Promise<readonly CronRun[]> => {
  for (const untilMs = Date.now() + patienceMs; Date.now() < untilMs; await sleep(250)) {
    const runs = await store.read((db) => listRuns(db, { limit: jobs * 2 }));
    if (runs.length >= jobs && runs.every(({ endedAtMs }) => endedAtMs !== null)) return runs;
  }
  throw new Error(`the jobs were not over after ${patienceMs / 1000} s`);
};

interface Delay {
  readonly what: string;
  readonly p50Ms: number;
  readonly lastMs: number;
}

const delayOf = (what: string, runs: readonly CronRun[], at: (run: CronRun) => number | null): Delay => {
  const delays = runs.map((run) => (at(run) ?? Infinity) - run.dueAtMs).toSorted((a, b) => a - b);
  return { what, p50Ms: quantile(delays, 0.5), lastMs: delays.at(-1) ?? 0 };
};

/** How long after their time very many jobs fire, begin and are answered, in a gateway of its own with an instant model. */
const measure = async ({ jobs }: Options): Promise<{ readonly jobs: number; readonly runs: number; readonly slotsTwice: number; readonly delays: readonly Delay[] }> => {
  await using world = await newWorld();
  await using home = await newWorldHome(world);
  const store = await openStore({ path: join(home.folder, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    await schedule(store, jobs, Date.now() + aheadMs);
    await using _gateway = await startGateway(home.folder);
    const runs = await untilOver(store, jobs);
    return {
      jobs,
      runs: runs.length,
      slotsTwice: runs.length - new Set(runs.map(({ jobId, slot }) => `${jobId} ${slot}`)).size,
      delays: [delayOf('fired', runs, (run) => run.createdAtMs), delayOf('begun', runs, (run) => run.startedAtMs), delayOf('answered', runs, (run) => run.endedAtMs)],
    };
  } finally {
    await store.close();
  }
};

const program = new Command('bench-cron')
  .description('How long very many jobs that are due at the same moment take to fire, to begin and to be answered')
  .option('--jobs <n>', 'how many', count, 1000)
  .option('--json', 'print JSON')
  .addHelpText('after', '\nExamples:\n  node bench/cron.ts\n  node bench/cron.ts --jobs 100 --json')
  .action(async (options: Options) => {
    const result = await measure(options);
    const rows = result.delays.map(({ what, p50Ms, lastMs }) => [what, `${p50Ms.toFixed(0)} ms`, `${lastMs.toFixed(0)} ms`]);
    process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : `${result.jobs} jobs due at the same moment, ${result.runs} runs, ${result.slotsTwice} of them twice\n\n${table([['after their time', 'half of them', 'the last'], ...rows])}\n`);
  });

await program.parseAsync();
