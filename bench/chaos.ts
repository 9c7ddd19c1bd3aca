import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../src/lib/clock.ts';
import { silentLogger } from '../src/lib/logger.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { evidenceFor } from './chaos/evidence.ts';
import { misbehaveUntil } from './chaos/faults.ts';
import { talkUntil } from './chaos/people.ts';
import { accounts, newPlaces } from './chaos/places.ts';
import { newRandom } from './chaos/random.ts';
import { runRounds } from './chaos/rounds.ts';
import { isSettled, readStored } from './chaos/stored.ts';
import type { Stored } from './chaos/stored.ts';
import { judge } from './chaos/verdict.ts';
import type { Verdict, Violation } from './chaos/verdict.ts';
import { newWorld } from './chaos/world.ts';
import type { World } from './chaos/world.ts';
import { newHome, startGateway } from './gateway-process.ts';
import type { Home } from './gateway-process.ts';
import { table } from './report.ts';

interface Options {
  readonly rounds: number;
  readonly chats: number;
  readonly seed: string;
  readonly json?: true;
}

const drainMs = 180_000;
const shownViolations = 10;

const newChaosHome = (world: World): Promise<Home> => {
  const { telegram, 'telegram@quick': quick } = world.telegrams;
  return newHome({
    model: { provider: 'openai', default: 'chaos', base_url: world.model.baseUrl, api_key: 'sk-chaos' },
    platforms: {
      telegram: {
        ...telegram.options,
        allow_all_users: true,
        gateway_restart_notification: false,
        busy_input_mode: accounts.telegram,
        accounts: { quick: { ...quick.options, allow_all_users: true, gateway_restart_notification: false, busy_input_mode: accounts['telegram@quick'] } },
      },
    },
    agent: { queue_limit: 1000, restart_drain_timeout: 1 },
    http: { port: 0 },
  });
};

/** People talk, platforms misbehave and the gateway is killed, all at once. Answers what the gateway should not have done. */
const makeTrouble = async (world: World, home: string, options: Options): Promise<readonly string[]> => {
  const random = newRandom(options.seed);
  const over = new AbortController();
  const talking = talkUntil(world, random.fork('people'), over.signal);
  const failing = misbehaveUntil(world, random.fork('faults'), over.signal);
  const onRound = (done: number): void => {
    if (options.json !== true && done % 10 === 0) console.log(`  ${done} of ${options.rounds} rounds, ${world.said.length} messages`);
  };
  try {
    return await runRounds(world, random.fork('rounds'), { home, env: {}, rounds: options.rounds, onRound });
  } finally {
    over.abort();
    await Promise.all([talking, failing]);
  }
};

const settled = async (world: World, store: Store): Promise<void> => {
  const untilMs = Date.now() + drainMs;
  const isQuiet = async (): Promise<boolean> => Object.values(world.telegrams).every((telegram) => telegram.pending() === 0) && (await isSettled(store));
  while (!(await isQuiet()) && Date.now() < untilMs) await sleep(200);
};

/** One more start, without trouble, until nothing is left to do; then an orderly end, and what it left behind. */
const drain = async (world: World, home: string): Promise<Stored> => {
  const gateway = await startGateway(home);
  const store = await openStore({ path: join(home, 'gateway.db'), clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    await settled(world, store);
    await gateway.end('SIGTERM');
    return await readStored(store);
  } finally {
    await gateway.end('SIGKILL');
    await store.close();
  }
};

const summary = (world: World, { counts, violations }: Verdict): string => {
  const of = (kind: Violation['kind']): string => String(violations.filter((violation) => violation.kind === kind).length);
  const kills = world.kills.filter(({ signal }) => signal === 'SIGKILL').length;
  return table([
    ['messages', String(counts.messages)],
    ['commands', String(counts.commands)],
    ['kill -9', String(kills)],
    ['SIGTERM', String(world.kills.length - kills)],
    ['turns taken up again', String(counts.resumedTurns)],
    ['lost', of('lost')],
    ['doubled', of('doubled')],
    ['misplaced', of('misplaced')],
    ['out of order', of('out of order')],
    ['unasked for', of('stray')],
    ['left over', of('left over')],
    ['hung or ended by itself', of('broken')],
    ['repeats, marked, first seen too', String(counts.repeated)],
    ['repeats, marked, first not seen', String(counts.markedAlone)],
    ['given up after two lost answers', String(counts.givenUp)],
    ['set aside after three kills', String(counts.setAside)],
    ['previews without an end', String(counts.orphanPreviews)],
  ]);
};

const report = (world: World, stored: Stored, verdict: Verdict, home: string): void => {
  console.log(summary(world, verdict));
  for (const violation of verdict.violations.slice(0, shownViolations)) {
    console.log(`\n  ${violation.kind}: ${violation.id ?? ''} ${violation.what}\n${evidenceFor(world, stored, violation)}`);
  }
  if (verdict.violations.length > shownViolations) console.log(`\n  and ${verdict.violations.length - shownViolations} more`);
  if (verdict.violations.length > 0) console.log(`\nThe home is kept for a look: ${home}`);
};

const run = async (options: Options): Promise<boolean> => {
  if (options.json !== true) console.log(`Seed ${options.seed}, ${options.rounds} rounds, ${options.chats} chats`);
  await using world = await newWorld(newPlaces(options.chats), newRandom(options.seed));
  const home = await newChaosHome(world);
  const troubles = await makeTrouble(world, home.folder, options);
  const stored = await drain(world, home.folder);
  const judged = judge(world, stored);
  const verdict: Verdict = { ...judged, violations: [...troubles.map((what): Violation => ({ kind: 'broken', what })), ...judged.violations] };
  if (options.json === true) console.log(JSON.stringify({ seed: options.seed, rounds: options.rounds, kills: world.kills.length, ...verdict }, null, 2));
  else report(world, stored, verdict, home.folder);
  if (verdict.violations.length === 0) await home[Symbol.asyncDispose]();
  return verdict.violations.length === 0;
};

const positive = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above zero');
  return value;
};

const examples = `
People write without a pause in direct chats, groups and topics of two accounts, while both platforms lose answers, limit rates and break
connections, and the gateway is killed and started again. In the end everything must be answered, once, in its place, in order.

Examples:
  npm run chaos                          20 rounds, about a minute
  npm run chaos -- --rounds 200          the long one
  npm run chaos -- --seed 5f3a --rounds 50    the same decisions again; the timing is the machine's`;

const options = new Command('chaos')
  .description('Kill the gateway at random moments under load and count what was lost, doubled, misplaced or out of order')
  .option('--rounds <n>', 'how often it is killed', positive, 20)
  .option('--chats <n>', 'how many conversations', positive, 12)
  .option('--seed <text>', 'for the same decisions again', randomBytes(4).toString('hex'))
  .option('--json', 'print the result as JSON')
  .addHelpText('after', examples)
  .parse()
  .opts<Options>();

process.exitCode = (await run(options)) ? 0 : 1;
