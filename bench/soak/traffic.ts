import { setTimeout as sleep } from 'node:timers/promises';
import { say } from '../chaos/people.ts';
import type { Place } from '../chaos/places.ts';
import type { Random } from '../chaos/random.ts';
import type { World } from '../chaos/world.ts';

export interface Traffic {
  readonly messages: number;
  /** Over which they are spread. */
  readonly durationMs: number;
  /** More unanswered ones than this, and people wait a little. */
  readonly mostOpen: number;
  /** Told after each message how many there were. */
  onSaid(said: number): void;
}

/** How long people wait for answers before they go on all the same. */
const patienceMs = 20_000;

/** In each place's life, one of ten is a command. */
const isCommand = (n: number): boolean => n % 10 === 8;

const shuffled = <T>(list: readonly T[], random: Random): readonly T[] =>
  list
    .map((item) => ({ item, order: random.next() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);

/** Each place speaks as often as every other, in an order of its own in every round. */
function* speakers(world: World, random: Random, messages: number): Generator<{ readonly place: Place; readonly n: number }> {
  for (let n = 1, said = 0; ; n += 1) {
    for (const place of shuffled(world.places, random)) {
      if (said === messages) return;
      said += 1;
      yield { place, n };
    }
  }
}

/** People speak at an even pace, as long as answers keep up. */
export const talkThrough = async (world: World, random: Random, traffic: Traffic): Promise<void> => {
  const open = new Set<string>();
  const startedMs = Date.now();
  let said = 0;
  for (const { place, n } of speakers(world, random, traffic.messages)) {
    const dueMs = startedMs + (said * traffic.durationMs) / traffic.messages;
    if (dueMs > Date.now()) await sleep(dueMs - Date.now());
    const untilMs = Date.now() + patienceMs;
    while (open.size > traffic.mostOpen && Date.now() < untilMs) await sleep(20);
    const id = await say(world, place, n, isCommand(n));
    if (!isCommand(n)) {
      open.add(id);
      void world.answered(id).then(() => open.delete(id));
    }
    said += 1;
    traffic.onSaid(said);
  }
};
