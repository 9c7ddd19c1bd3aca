import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultPlan } from '../../src/platforms/simulator.ts';
import type { Account } from './places.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

type Draw = (random: Random) => Omit<FaultPlan, 'count'>;

const on = (what: FaultPlan['what'], fault: Fault | ((random: Random) => Fault)): Draw => (random) => ({ what, fault: typeof fault === 'function' ? fault(random) : fault });

const delay = (random: Random): Fault => ({ type: 'delay', ms: random.between(50, 400) });

/** As often as they stand here. After any of them, the effect of the call is certain or has happened. */
const ordinary: readonly [Draw, ...Draw[]] = [
  on('send', { type: 'drop_answer' }),
  on('send', { type: 'drop_answer' }),
  on('send', delay),
  on('send', delay),
  on('send', { type: 'rate_limit', retryAfterMs: 1000 }),
  on('send', { type: 'status', status: 502 }),
  on('edit', { type: 'drop_answer' }),
  on('edit', { type: 'refuse' }),
  on('edit', delay),
  on('typing', { type: 'refuse' }),
  on('receive', delay),
];

/** These end the connection of an account for a second. */
const disconnecting: readonly [Draw, ...Draw[]] = [on('receive', { type: 'refuse' }), on('receive', { type: 'drop_answer' }), on('receive', { type: 'status', status: 502 }), on('identify', { type: 'status', status: 500 })];

/** The call is lost and nobody can know it: two in a row exhaust the one repeat that a delivery has. */
const losing: readonly [Draw, ...Draw[]] = [on('send', { type: 'refuse' }), on('send', { type: 'garbage' })];

/** Whether a delivery whose outcome is unknown still waits for its repeat. */
const awaitsRepeat = (world: World, account: Account): boolean => {
  const recent = world.calls.slice(-200).filter((call) => call.account === account);
  return recent.some((call) => call.answer.status === 0 && !recent.some((later) => later.atMs > call.atMs && later.chatId === call.chatId && later.shown.marked));
};

/** Makes both platforms misbehave now and then, until the signal. */
export const misbehaveUntil = async (world: World, random: Random, signal: AbortSignal): Promise<void> => {
  const names = Object.keys(world.telegrams) as [Account, ...Account[]];
  while (!signal.aborted) {
    try {
      await sleep(random.between(100, 600), undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const account = random.pick(names);
    const drawn = random.next();
    const list = drawn < 0.08 ? disconnecting : drawn < 0.2 && !awaitsRepeat(world, account) ? losing : ordinary;
    world.telegrams[account].fail(random.pick(list)(random));
  }
};
