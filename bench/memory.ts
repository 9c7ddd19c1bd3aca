import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from './gateway-process.ts';
import { talk } from './load.ts';
import { gatewayIn, newWorld } from './world.ts';

const idleMs = 3000;

export interface MemoryPlan {
  readonly chats: number;
  /** Messages in total after which to look, growing; multiples of `chats`. */
  readonly after: readonly number[];
  /** V8 gives memory back some seconds after the work is over. */
  readonly restMs: number;
}

export interface MemoryResult {
  readonly messages: number;
  /** Right after the last answer, with whatever the collector has not looked at yet. */
  readonly busyBytes: number;
  /** What is left when the gateway has rested. */
  readonly restingBytes: number;
  /** At rest, against the look before. */
  readonly ratio: number;
}

/** Resident memory of an idle gateway and after many messages. Nothing where the system does not tell. */
export const measureMemory = async (plan: MemoryPlan): Promise<readonly MemoryResult[]> => {
  if (residentBytes(process.pid) === undefined) return [];
  await using world = await newWorld();
  // The first start after a change compiles everything, and keeps what that takes.
  await (await gatewayIn(world))[Symbol.asyncDispose]();
  await using gateway = await gatewayIn(world);
  const looks: Omit<MemoryResult, 'ratio'>[] = [];
  const look = async (messages: number, restMs: number): Promise<void> => {
    const now = (): number => residentBytes(gateway.process.pid) ?? Number.NaN;
    const busyBytes = now();
    await sleep(restMs);
    looks.push({ messages, busyBytes, restingBytes: now() });
  };
  await look(0, Math.min(plan.restMs, idleMs));
  let done = 0;
  for (const messages of plan.after) {
    await talk(world.telegram, { chats: plan.chats, messages: (messages - done) / plan.chats });
    done = messages;
    await look(messages, plan.restMs);
  }
  return looks.map((each, i) => ({ ...each, ratio: each.restingBytes / (looks[i - 1] ?? each).restingBytes }));
};
