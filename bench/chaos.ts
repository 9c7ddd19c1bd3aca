import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { drain } from './chaos/drain.ts';
import { misbehaveUntil } from './chaos/faults.ts';
import { newChaosHome } from './chaos/home.ts';
import { talkUntil } from './chaos/people.ts';
import { newPlaces } from './chaos/places.ts';
import { printVerdict } from './chaos/print-verdict.ts';
import { newRandom } from './chaos/random.ts';
import { runRounds } from './chaos/rounds.ts';
import { judge } from './chaos/verdict.ts';
import type { Verdict, Violation } from './chaos/verdict.ts';
import { newWorld } from './chaos/world.ts';
import type { World } from './chaos/world.ts';

interface Options {
  readonly rounds: number;
  readonly chats: number;
  readonly seed: string;
  readonly json?: true;
}

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

const run = async (options: Options): Promise<boolean> => {
  if (options.json !== true) console.log(`Seed ${options.seed}, ${options.rounds} rounds, ${options.chats} chats`);
  await using world = await newWorld(newPlaces(options.chats), newRandom(options.seed));
  const home = await newChaosHome(world);
  const troubles = await makeTrouble(world, home.folder, options);
  const stored = await drain(world, home.folder);
  const judged = judge(world, stored);
  const verdict: Verdict = { ...judged, violations: [...troubles.map((what): Violation => ({ kind: 'broken', what })), ...judged.violations] };
  if (options.json === true) console.log(JSON.stringify({ seed: options.seed, rounds: options.rounds, kills: world.kills.length, ...verdict }, null, 2));
  else printVerdict(world, stored, { verdict, home: home.folder });
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
