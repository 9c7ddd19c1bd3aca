import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from './gateway-process.ts';
import { talk } from './load.ts';
import { gatewayIn, newWorld } from './world.ts';

export interface MemoryPlan {
  readonly chats: number;
  /** Messages in total after which to look, growing; multiples of `chats`. */
  readonly after: readonly number[];
  readonly restMs: number;
}

export interface MemoryResult {
  readonly messages: number;
  readonly residentBytes: number;
  /** Against the first look after messages; the idle process against itself. */
  readonly ratio: number;
}

/** Resident memory of an idle gateway and after many messages. Nothing where the system does not tell. */
export const measureMemory = async (plan: MemoryPlan): Promise<readonly MemoryResult[]> => {
  if (residentBytes(process.pid) === undefined) return [];
  await using world = await newWorld();
  await using gateway = await gatewayIn(world);
  const looks: { messages: number; residentBytes: number }[] = [];
  const look = async (messages: number): Promise<void> => {
    await sleep(plan.restMs);
    looks.push({ messages, residentBytes: residentBytes(gateway.process.pid) ?? Number.NaN });
  };
  await look(0);
  let done = 0;
  for (const messages of plan.after) {
    await talk(world.telegram, { chats: plan.chats, messages: (messages - done) / plan.chats });
    done = messages;
    await look(messages);
  }
  const first = looks[1]?.residentBytes ?? Number.NaN;
  return looks.map((each) => ({ ...each, ratio: each.messages === 0 ? 1 : each.residentBytes / first }));
};
