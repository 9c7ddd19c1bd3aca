import { setTimeout as sleep } from 'node:timers/promises';
import { spawnGateway } from '../gateway-process.ts';
import type { GatewayProcess } from '../gateway-process.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export interface RoundOptions {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** Called after each round. */
  onRound(done: number): void;
}

/** Far more than a start or an orderly end may take, also on a busy machine. */
const patienceMs = 30_000;

/** Whether it came to its end within the time. */
const inTime = async (work: Promise<unknown>): Promise<boolean> => {
  const late = new AbortController();
  const timeout = sleep(patienceMs, false, { signal: late.signal }).catch(() => false);
  const done = await Promise.race([work.then(() => true), timeout]);
  late.abort();
  return done;
};

const kill = async (world: World, gateway: GatewayProcess, signal: NodeJS.Signals): Promise<void> => {
  if (gateway.isRunning()) world.kills.push({ atMs: Date.now(), signal });
  await gateway.end(signal);
};

/** Some are asked to end in order, and some of those are killed while they do. Answers what went wrong, if anything. */
const end = async (world: World, gateway: GatewayProcess, random: Random): Promise<string | undefined> => {
  if (random.chance(0.85)) {
    await kill(world, gateway, 'SIGKILL');
    return undefined;
  }
  const ended = kill(world, gateway, 'SIGTERM');
  if (random.chance(0.4)) await Promise.race([ended, sleep(random.between(1, 900))]);
  else if (!(await inTime(ended))) return `did not end within ${patienceMs} ms of SIGTERM`;
  await kill(world, gateway, 'SIGKILL');
  return undefined;
};

/** Lets the gateway live for a while: sometimes it does not even finish starting. Answers what went wrong, if anything. */
const live = async (gateway: GatewayProcess, random: Random): Promise<string | undefined> => {
  if (random.chance(0.15)) await sleep(random.between(0, 900));
  else if (await inTime(gateway.started())) await sleep(random.between(20, 1500));
  else return `did not start within ${patienceMs} ms`;
  return gateway.isRunning() ? undefined : 'ended by itself';
};

/** Starts the gateway and kills it at a random moment, again and again. Answers what it should not have done, with its last words. */
export const runRounds = async (world: World, random: Random, options: RoundOptions): Promise<readonly string[]> => {
  const troubles: string[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    await using gateway = spawnGateway(options.home, { env: options.env });
    const trouble = (await live(gateway, random)) ?? (await end(world, gateway, random));
    if (trouble !== undefined) troubles.push(`${trouble}, in round ${round}:\n${gateway.output()}`);
    options.onRound(round);
  }
  return troubles;
};
