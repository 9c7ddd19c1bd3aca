import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { drain } from './chaos/drain.ts';
import { newChaosHome } from './chaos/home.ts';
import { repeatUpdates } from './chaos/people.ts';
import { newPlaces } from './chaos/places.ts';
import { printVerdict } from './chaos/print-verdict.ts';
import { newRandom } from './chaos/random.ts';
import type { Random } from './chaos/random.ts';
import type { Stored } from './chaos/stored.ts';
import { judge } from './chaos/verdict.ts';
import type { Verdict, Violation } from './chaos/verdict.ts';
import { newWorld } from './chaos/world.ts';
import type { World } from './chaos/world.ts';
import { freePort } from '../test/support/free-port.ts';
import { startGateway } from './gateway-process.ts';
import { table } from './report.ts';
import { disturb, means, operator } from './soak/restarts.ts';
import type { Means, Subject } from './soak/restarts.ts';
import { flatnessOf, growthOf, sampleUntil } from './soak/samples.ts';
import type { Flatness, Sample } from './soak/samples.ts';
import { talkThrough } from './soak/traffic.ts';

interface Options {
  readonly minutes: number;
  readonly messages: number;
  readonly sessions: number;
  readonly toolMb: number;
  readonly disturbances: number;
  readonly seed: string;
  readonly quick?: true;
  readonly json?: true;
}

const mostOpen = 150;

/** Numbers in lines: about so many bytes of output, made by a program that the agent runs. */
const outputOf = (bytes: number): { readonly name: string; readonly arguments: string } => ({ name: 'terminal', arguments: JSON.stringify({ command: `yes 0123456789012345678901234567890123456789012345678901234567890123456789012345678 | head -n ${Math.max(1, Math.round(bytes / 80))}` }) });

/** All means come by turns, in the middle third of the messages: before and after, one process lives long enough to be compared. */
const disturbThrough = async (subject: Subject, random: Random, plan: { readonly said: () => number; readonly options: Options; readonly signal: AbortSignal; readonly onDone: (by: Means) => void }): Promise<readonly string[]> => {
  const { messages, disturbances } = plan.options;
  const troubles: string[] = [];
  for (let i = 0; i < disturbances && !plan.signal.aborted; i += 1) {
    const afterMessages = messages / 3 + ((i + random.next()) * messages) / 3 / disturbances;
    while (plan.said() < afterMessages && !plan.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
    const by = means[i % means.length];
    if (by === undefined) break;
    const trouble = await disturb(subject, by);
    if (trouble !== undefined) troubles.push(trouble);
    plan.onDone(by);
  }
  return troubles;
};

interface Lived {
  readonly troubles: readonly string[];
  readonly samples: readonly Sample[];
  readonly done: readonly Means[];
}

/** People talk, the gateway is made to end and come back, and somebody looks at it all the while. */
const live = async (world: World, home: string, options: Options): Promise<Lived> => {
  const random = newRandom(options.seed);
  const subject: Subject = { home, world, gateway: await startGateway(home) };
  const over = new AbortController();
  const done: Means[] = [];
  let said = 0;
  const tell = (text: string): void => {
    if (options.json !== true) console.log(`  ${text}`);
  };
  const sampling = sampleUntil(() => subject.gateway.pid, over.signal);
  const repeating = repeatUpdates(world, random.fork('repeats'), over.signal);
  const disturbing = disturbThrough(subject, random.fork('means'), { said: () => said, options, signal: over.signal, onDone: (by) => void (done.push(by), tell(`${said} messages: ${by}`)) });
  try {
    await talkThrough(world, random.fork('people'), { messages: options.messages, durationMs: options.minutes * 60_000, mostOpen, onSaid: (count) => void (said = count, count % 1000 === 0 && tell(`${count} of ${options.messages} messages`)) });
    const troubles = await disturbing;
    over.abort();
    return { troubles, samples: await sampling, done };
  } finally {
    over.abort();
    await Promise.all([disturbing, repeating, sampling]);
    world.kills.push({ atMs: Date.now(), signal: 'SIGTERM' });
    await subject.gateway.end('SIGTERM');
  }
};

const toolBytes = ({ rows }: Stored): number => rows.filter(({ role }) => role === 'tool').reduce((sum, { content }) => sum + content.length, 0);

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const flatnessTable = ({ first, last, mostBytes, mostFiles }: Flatness): string =>
  table([
    ['', 'first third', 'last third', 'most'],
    ['resident memory', megabytes(first.residentBytes), megabytes(last.residentBytes), megabytes(mostBytes)],
    ['open files', String(first.openFiles), String(last.openFiles), String(mostFiles)],
  ]);

const run = async (options: Options): Promise<boolean> => {
  // The model wants one for every ninth message, and one in ten is a command.
  const tools = Math.max(1, Math.round(options.messages / 10));
  const perCall = (options.toolMb * 1024 * 1024) / tools;
  if (options.json !== true) console.log(`Seed ${options.seed}: ${options.messages} messages in ${options.sessions} conversations over ${options.minutes} minutes, about ${tools} tools with ${Math.round(perCall / 1024)} KB each, ${options.disturbances} disturbances`);
  await using world = await newWorld(newPlaces(options.sessions), newRandom(options.seed), outputOf(perCall));
  const home = await newChaosHome(world, { settings: { http: { port: await freePort() }, approvals: { destructive_slash_confirm: false }, display: { tool_progress: 'off' } }, telegram: { allow_admin_from: [operator.senderId], user_allowed_commands: ['version'] } });
  const { troubles, samples, done } = await live(world, home.folder, options);
  const stored = await drain(world, home.folder);
  const judged = judge(world, stored);
  const flatness = flatnessOf(samples);
  const broken = [...troubles, ...(flatness === undefined || options.quick === true ? [] : growthOf(flatness))];
  const verdict: Verdict = { ...judged, violations: [...broken.map((what): Violation => ({ kind: 'broken', what })), ...judged.violations] };
  const sessions = new Set(stored.items.map(({ sessionId }) => sessionId)).size;
  if (options.json === true) console.log(JSON.stringify({ seed: options.seed, done, sessions, flatness, ...verdict }, null, 2));
  else {
    if (flatness !== undefined) console.log(`\n${flatnessTable(flatness)}\n`);
    console.log(`${table([['conversations', String(sessions)], ['tool results', String(stored.rows.filter(({ role }) => role === 'tool').length)], ['  kept of them', megabytes(toolBytes(stored))]])}\n`);
    printVerdict(world, stored, { verdict, home: home.folder });
  }
  if (verdict.violations.length === 0) await home[Symbol.asyncDispose]();
  return verdict.violations.length === 0;
};

const above = (text: string): number => {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('must be a number above zero');
  return value;
};

const examples = `
An hour's traffic in less: people in many conversations, tools with much output, and in the middle third of it the gateway is made to end and come back by every
means, and another process holds its store for ten seconds. In the end everything must be answered, once, in its place, in order; memory and open files of the last
third must be those of the first.

Examples:
  npm run soak                            10,000 messages in 1,000 conversations, ten minutes
  npm run soak -- --minutes 60            the same at an hour's pace
  npm run soak -- --quick                 half a minute, to see that it works; too short to say anything about memory`;

const quick = { minutes: 0.15, messages: 120, sessions: 12, toolMb: 4, disturbances: 5 } as const;

const chosen = new Command('soak')
  .description('Let the gateway live through the traffic of an hour and every kind of restart, and count what was lost, doubled or has grown')
  .option('--minutes <n>', 'over which the messages are spread', above, 10)
  .option('--messages <n>', 'how many people write', above, 10_000)
  .option('--sessions <n>', 'in how many conversations', above, 1000)
  .option('--tool-mb <n>', 'megabytes of output that tools make', above, 200)
  .option('--disturbances <n>', 'restarts and the like', above, 12)
  .option('--seed <text>', 'for the same decisions again', randomBytes(4).toString('hex'))
  .option('--quick', 'a small one')
  .option('--json', 'print the result as JSON')
  .addHelpText('after', examples)
  .parse()
  .opts<Options>();

process.exitCode = (await run(chosen.quick === true ? { ...chosen, ...quick } : chosen)) ? 0 : 1;
