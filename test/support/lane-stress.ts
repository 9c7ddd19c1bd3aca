import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { claimLane, enqueueLane, holdLane, readyLanes, releaseLane } from '../../src/store/lanes/lanes.ts';
import type { Claim } from '../../src/store/lanes/lanes.ts';
import { insertInboxItem } from '../../src/store/messages/inbox.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, Writing } from '../../src/store/store.ts';
import { sampleEvent } from './samples.ts';
import type { Location } from './stores.ts';

/** One of several that enqueue and work on the same lanes at the same time, each with a store of its own. */
export interface Participant {
  readonly name: string;
  readonly location: Location;
  readonly lanes: number;
  readonly items: number;
  /** How many items all participants enqueue together. */
  readonly total: number;
}

/** What happened on a lane, in the order in which it was committed. */
export interface Step {
  readonly lane: string;
  readonly type: 'start' | 'end';
  readonly item: number;
  readonly text: string;
  readonly owner: string;
  readonly fence: number;
}

const leaseMs = 200;
const loops = 2;
/** Lanes are handed round, so that many want the same one. */
const atATime = 5;

const produce = async (store: Store, participant: Participant): Promise<void> => {
  const enqueue = async (i: number): Promise<void> => {
    const lane = `turn:${i % participant.lanes}`;
    const number = Math.floor(i / participant.lanes);
    const event = sampleEvent({ account: participant.name, nativeId: `${participant.name}-${i}`, text: `${participant.name} ${number}` });
    await store.write(async (tx) => {
      await enqueueLane(tx, { lane, kind: 'turn' });
      await insertInboxItem(tx, { event, class: 'chat', decisions: [], place: { lane, sessionId: 's', sessionKey: 'k' } });
    });
  };
  // Next to each other between lanes, one after the other within a lane.
  const inLane = async (first: number): Promise<void> => {
    for (let i = first; i < participant.items; i += participant.lanes) await enqueue(i);
  };
  await Promise.all(Array.from({ length: participant.lanes }, (_, lane) => inLane(lane)));
};

interface Item {
  readonly id: number;
  readonly text: string;
}

const record = async (tx: Writing, claim: Claim, type: Step['type'], item: Item): Promise<void> => {
  const step: Step = { lane: claim.lane, type, item: item.id, text: item.text, owner: claim.owner, fence: claim.fence };
  const key = type === 'end' ? `end ${item.id}` : `start ${item.id} ${claim.fence}`;
  await tx.q.insertInto('journal').values({ account: 'stress', stream: claim.lane, key, entry: JSON.stringify(step), created_at: tx.now }).execute();
};

/** Takes up the head of the lane, or gives the lane back. */
const next = async (tx: Writing, claim: Claim): Promise<Item | undefined> => {
  const row = await tx.q
    .selectFrom('inbox')
    .select(['id', 'event'])
    .where('lane', '=', claim.lane)
    .where('state', 'in', ['waiting', 'running'])
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) {
    await releaseLane(tx, claim, { more: false });
    return undefined;
  }
  const item = { id: row.id, text: (JSON.parse(row.event) as { text: string }).text };
  await tx.q.updateTable('inbox').set({ state: 'running' }).where('id', '=', item.id).execute();
  await record(tx, claim, 'start', item);
  return item;
};

const finish = (store: Store, claim: Claim, item: Item, goOn: boolean): Promise<Item | undefined> =>
  store.write(async (tx) => {
    await holdLane(tx, claim, leaseMs);
    await record(tx, claim, 'end', item);
    await tx.q.updateTable('inbox').set({ state: 'done', done_at: tx.now }).where('id', '=', item.id).execute();
    if (goOn) return next(tx, claim);
    await releaseLane(tx, claim, { more: true });
    return undefined;
  });

const workOn = async (store: Store, owner: string, lane: string, stall: () => boolean): Promise<void> => {
  const begun = await store.write(async (tx) => {
    const claim = await claimLane(tx, { lane, owner, leaseMs });
    return claim === undefined ? undefined : { claim, item: await next(tx, claim) };
  });
  if (begun === undefined) return;
  let { item } = begun;
  for (let done = 1; item !== undefined; done += 1) {
    // Whoever is away for longer than his lease finds the lane taken when he comes back.
    if (stall()) await sleep(leaseMs * 2);
    item = await finish(store, begun.claim, item, done < atATime);
  }
};

const work = async (store: Store, participant: Participant, loop: number): Promise<void> => {
  const owner = `${participant.name}/${loop}`;
  let finished = 0;
  const stall = (): boolean => (finished += 1) === 20 && loop === 0;
  for (;;) {
    const lanes = await store.read((db) => readyLanes(db, 'turn', participant.lanes));
    // Not everybody begins with the same one.
    const from = (finished + loop) % Math.max(1, lanes.length);
    for (const { lane } of [...lanes.slice(from), ...lanes.slice(0, from)]) {
      await workOn(store, owner, lane, stall).catch((error: unknown) => {
        if (!(error instanceof StoreError && error.code === 'lane_lost')) throw error;
      });
    }
    if (lanes.length > 0) continue;
    const row = await store.read((db) => db.q.selectFrom('inbox').select((eb) => eb.fn.countAll<number>().as('count')).where('state', '=', 'done').executeTakeFirstOrThrow());
    if (Number(row.count) === participant.total) return;
    await sleep(5);
  }
};

export const participate = async (participant: Participant): Promise<void> => {
  const store = await openStore({ ...participant.location, clock: systemClock, log: silentLogger, checkIntegrity: false });
  try {
    await Promise.all([produce(store, participant), ...Array.from({ length: loops }, (_, loop) => work(store, participant, loop))]);
  } finally {
    await store.close();
  }
};

if (import.meta.main) await participate(JSON.parse(process.argv[2] ?? '') as Participant);
