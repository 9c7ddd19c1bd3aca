import { setTimeout as sleep } from 'node:timers/promises';
import type { Account, Place } from './places.ts';
import type { Random } from './random.ts';
import { idOf } from './words.ts';
import type { World } from './world.ts';

/** A person who waits for an answer writes again after this, as people do. */
const patienceMs = 15_000;

const paused = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** Somebody writes the next thing in a place; answers its name. */
export const say = async (world: World, place: Place, n: number, isCommand: boolean): Promise<string> => {
  const id = idOf(place.index, n);
  const { chatId, chatType, senderId, threadId } = place;
  const text = isCommand ? '/version' : `please ${id}`;
  // Some in groups name the bot, some just write.
  const mention = chatType === 'group' && !isCommand && n % 3 === 0;
  const nativeId = await world.telegrams[place.account].say({ chatId, chatType, senderId, text, mention, ...(threadId !== undefined && { threadId }) });
  world.said.push({ id, place, n, nativeId, isCommand });
  return id;
};

/** One person in one place, who writes numbered messages until told to stop. */
const person = async (world: World, place: Place, random: Random, signal: AbortSignal): Promise<void> => {
  for (let n = 1; !signal.aborted; n += 1) {
    const isCommand = n % 17 === 0;
    const id = await say(world, place, n, isCommand);
    const inBurst = place.manner === 'bursts' && random.chance(0.6);
    if (place.manner !== 'open' && !isCommand && !inBurst) await Promise.race([world.answered(id), paused(patienceMs, signal)]);
    await paused(inBurst ? random.between(5, 250) : random.between(100, 900), signal);
  }
};

/** The platform now and then delivers something again that was confirmed before. */
export const repeatUpdates = async (world: World, random: Random, signal: AbortSignal): Promise<void> => {
  const names = Object.keys(world.telegrams) as [Account, ...Account[]];
  while (!signal.aborted) {
    await paused(random.between(200, 1500), signal);
    const account = random.pick(names);
    const telegram = world.telegrams[account];
    const confirmed = world.said.filter(({ place }) => place.account === account).slice(0, -telegram.pending() || undefined);
    const known = confirmed.at(-random.between(1, 30));
    if (known !== undefined && !signal.aborted) await telegram.redeliver(known.nativeId);
  }
};

/** Everybody talks until the signal; resolves when the last has stopped. */
export const talkUntil = async (world: World, random: Random, signal: AbortSignal): Promise<void> => {
  const people = world.places.map((place) => person(world, place, random.fork(`person ${place.index}`), signal));
  await Promise.all([...people, repeatUpdates(world, random.fork('repeats'), signal)]);
};
