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

const kill = async (world: World, gateway: GatewayProcess, signal: NodeJS.Signals): Promise<void> => {
  world.kills.push({ atMs: Date.now(), signal });
  await gateway.end(signal);
};

/** Some are asked to end in order, and some of those are killed while they do. */
const end = async (world: World, gateway: GatewayProcess, random: Random): Promise<void> => {
  if (random.chance(0.85)) return kill(world, gateway, 'SIGKILL');
  const ended = kill(world, gateway, 'SIGTERM');
  if (random.chance(0.4)) {
    await Promise.race([ended, sleep(random.between(1, 900))]);
    await kill(world, gateway, 'SIGKILL');
  }
  return ended;
};

/** Lets the gateway live for a while: sometimes it does not even finish starting. */
const live = async (gateway: GatewayProcess, random: Random): Promise<void> => {
  if (random.chance(0.15)) return sleep(random.between(0, 900));
  await gateway.started();
  return sleep(random.between(20, 1500));
};

/** Starts the gateway and kills it at a random moment, again and again. Answers what it printed if it ever ended by itself. */
export const runRounds = async (world: World, random: Random, options: RoundOptions): Promise<readonly string[]> => {
  const ended: string[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    await using gateway = spawnGateway(options.home, { env: options.env });
    await live(gateway, random);
    if (!gateway.isRunning()) ended.push(gateway.output());
    await end(world, gateway, random);
    options.onRound(round);
  }
  return ended;
};
