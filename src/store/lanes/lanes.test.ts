import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import type { InboundEvent } from '../../core/message.ts';
import { elapse } from '../elapse.test-support.ts';
import { insertInboxItem } from '../messages/inbox.ts';
import type { Store } from '../store.ts';
import { claimLane, enqueueLane, expediteLanes, extendLanes, heldLane, holdLane, laneFacts, laneStates, laneWaitMs, lockLane, readyLanes, reclaimLane, releaseLane, releaseOwner, requestStop } from './lanes.ts';
import type { Claim } from './lanes.ts';

const lane = 'turn:s1';
const long = 60_000;

const enqueue = (store: Store, name = lane, delayMs?: number): Promise<unknown> =>
  store.write((tx) => enqueueLane(tx, { lane: name, kind: name.startsWith('out:') ? 'out' : 'turn', ...(delayMs !== undefined && { delayMs }) }));

const claim = (store: Store, owner: string, name = lane): Promise<Claim | undefined> => store.write((tx) => claimLane(tx, { lane: name, owner, leaseMs: long }));

const claimed = async (store: Store, owner: string): Promise<Claim> => {
  const got = await claim(store, owner);
  assert.ok(got !== undefined, `${owner} gets the lane`);
  return got;
};

const ready = async (store: Store): Promise<string[]> => (await store.read((db) => readyLanes(db, 'turn', 10))).map((row) => row.lane);

/** What is notified while `work` runs and until its notifications have come. */
const notified = async (store: Store, work: () => Promise<unknown>): Promise<string[]> => {
  const seen: string[] = [];
  const end = Promise.withResolvers<void>();
  const subscriptions = (['lane', 'stop'] as const).map((channel) =>
    store.listen(channel, (payload) => {
      if (payload === 'end') end.resolve();
      else seen.push(`${channel} ${payload}`);
    }),
  );
  await work();
  await store.write(async (tx) => tx.notify('lane', 'end'));
  await end.promise;
  for (const subscription of subscriptions) subscription[Symbol.dispose]();
  return seen;
};

eachStore((_engine, open) => {
  test('a lane has one owner, in whatever process, until it is given back', async () => {
    const { store, another } = await open();
    const other = await another();
    assert.equal(await claim(store, 'a'), undefined);
    await enqueue(store);
    assert.deepEqual(await ready(other), [lane]);
    const first = await claimed(store, 'a');
    assert.equal(await claim(store, 'a'), undefined);
    assert.equal(await claim(other, 'b'), undefined);
    assert.deepEqual(await ready(other), []);
    await store.write((tx) => releaseLane(tx, first, { more: true }));
    const second = await claimed(other, 'b');
    assert.ok(second.fence > first.fence);
    await other.write((tx) => releaseLane(tx, second, { more: false }));
    assert.equal(await claim(store, 'a'), undefined);
  });

  test('of many that claim a lane at once exactly one gets it', async () => {
    const { store, another } = await open();
    const others = [store, await another(), await another()];
    await enqueue(store);
    const claims = await Promise.all(Array.from({ length: 30 }, (_, i) => claim(others[i % 3] ?? store, `owner-${i}`)));
    assert.equal(claims.filter((one) => one !== undefined).length, 1);
  });

  test('an owner whose lease ran out keeps the lane until somebody else takes it, and then can write nothing more', async () => {
    const opened = await open();
    const { store } = opened;
    const other = await opened.another();
    await enqueue(store);
    const stalled = await claimed(store, 'a');
    await elapse(opened, long * 2, 'lanes');
    assert.deepEqual(await ready(other), [lane]);
    await store.write((tx) => holdLane(tx, stalled, long));
    assert.equal(await claim(other, 'b'), undefined);
    await elapse(opened, long * 2, 'lanes');
    const taken = await claimed(other, 'b');
    assert.ok(taken.fence > stalled.fence);
    const late = store.write(async (tx) => {
      await holdLane(tx, stalled, long);
      await tx.q.insertInto('account_values').values({ account: 'a', key: 'late', value: '' }).execute();
    });
    await assert.rejects(late, { name: 'StoreError', code: 'lane_lost' });
    await store.write((tx) => releaseLane(tx, stalled, { more: false }));
    await store.write((tx) => extendLanes(tx, { owner: 'a', lanes: [lane], leaseMs: long }));
    await other.write((tx) => holdLane(tx, taken, long));
    assert.equal((await store.read((db) => laneFacts(db, lane))).running, true);
  });

  test('the same owner with an older claim is refused as well', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store);
    const older = await claimed(store, 'a');
    await elapse(opened, long * 2, 'lanes');
    const newer = await claimed(store, 'a');
    await assert.rejects(store.write((tx) => holdLane(tx, older, long)), { code: 'lane_lost' });
    await store.write((tx) => holdLane(tx, newer, long));
  });

  test('signs of life keep a lane', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store);
    await claimed(store, 'a');
    await store.write((tx) => extendLanes(tx, { owner: 'a', lanes: [lane], leaseMs: long * 3 }));
    await store.write((tx) => extendLanes(tx, { owner: 'a', lanes: [], leaseMs: 0 }));
    await elapse(opened, long * 2, 'lanes');
    assert.equal(await claim(await opened.another(), 'b'), undefined);
  });

  test('a held lane cannot be claimed before its time', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store, lane, long);
    assert.equal(await claim(store, 'a'), undefined);
    assert.deepEqual(await ready(store), []);
    const wait = (await store.read((db) => laneWaitMs(db, lane))) ?? 0;
    assert.ok(wait > 0 && wait <= long, String(wait));
    await elapse(opened, long, 'lanes');
    assert.deepEqual(await ready(store), [lane]);
    await claimed(store, 'a');
    assert.equal(await store.read((db) => laneWaitMs(db, lane)), undefined);
  });

  test('newer work without delay ends a hold, and further parts prolong it', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store, lane, long);
    await elapse(opened, long * 0.6, 'lanes');
    await enqueue(store, lane, long);
    await elapse(opened, long * 0.6, 'lanes');
    assert.equal(await claim(store, 'a'), undefined);
    await enqueue(store);
    await claimed(store, 'a');
  });

  test('lanes that wait for a connection are expedited by the start of their name', async () => {
    const { store } = await open();
    for (const name of ['out:telegram:1', 'out:telegram:😀', 'out:telegram@work:1', 'out:tele_ram:1']) await enqueue(store, name, long);
    const seen = await notified(store, () => store.write((tx) => expediteLanes(tx, 'out:telegram:')));
    assert.deepEqual(seen.toSorted(), ['lane out:telegram:1', 'lane out:telegram:😀']);
    const now = await store.read((db) => readyLanes(db, 'out', 10));
    assert.deepEqual(now.map((row) => row.lane).toSorted(), ['out:telegram:1', 'out:telegram:😀']);
    await enqueue(store, 'out:😀:1', long);
    assert.deepEqual(await notified(store, () => store.write((tx) => expediteLanes(tx, 'out:😀:'))), ['lane out:😀:1']);
  });

  test('to lock a lane announces nothing, ends no hold and makes no work', async () => {
    const { store } = await open();
    const lock = (): Promise<unknown> => store.write((tx) => lockLane(tx, { lane, kind: 'turn' }));
    assert.deepEqual(await notified(store, lock), []);
    assert.deepEqual([await ready(store), await claim(store, 'a')], [[], undefined]);
    await enqueue(store, lane, long);
    await lock();
    assert.ok(((await store.read((db) => laneWaitMs(db, lane))) ?? 0) > long / 2);
    await enqueue(store);
    const held = await claimed(store, 'a');
    await store.write((tx) => requestStop(tx, lane));
    assert.deepEqual(await lock(), { running: true, stops: 1 });
    await store.write((tx) => holdLane(tx, held, long));
  });

  test('ready lanes come longest waiting first, of the kind asked for, up to the limit', async () => {
    const { store, pass } = await open();
    for (const name of ['turn:c', 'turn:a', 'out:x:1', 'turn:b']) {
      await enqueue(store, name);
      await pass(2);
    }
    assert.deepEqual(await ready(store), ['turn:c', 'turn:a', 'turn:b']);
    assert.equal((await store.read((db) => readyLanes(db, 'turn', 2))).length, 2);
  });

  test('new work and work left over are announced, an empty lane is not', async () => {
    const { store } = await open();
    assert.deepEqual(await notified(store, () => enqueue(store)), [`lane ${lane}`]);
    const first = await claimed(store, 'a');
    assert.deepEqual(await notified(store, () => store.write((tx) => releaseLane(tx, first, { more: true, readyInMs: 0 }))), [`lane ${lane}`]);
    const second = await claimed(store, 'a');
    assert.deepEqual(await notified(store, () => store.write((tx) => releaseLane(tx, second, { more: false }))), []);
  });

  test('a lane given back for later is not claimable until then', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store);
    const first = await claimed(store, 'a');
    await store.write((tx) => releaseLane(tx, first, { more: true, readyInMs: long }));
    assert.equal(await claim(store, 'a'), undefined);
    await elapse(opened, long, 'lanes');
    await claimed(store, 'a');
  });

  test('requests to stop are counted, announced, and seen by the owner', async () => {
    const { store, another } = await open();
    await enqueue(store);
    await claimed(store, 'a');
    assert.equal((await store.read((db) => heldLane(db, lane))).stops, 0);
    const seen = await notified(store, async () => {
      await store.write((tx) => requestStop(tx, lane));
      await (await another()).write((tx) => requestStop(tx, lane));
    });
    assert.ok(seen.includes(`stop ${lane}`));
    assert.equal((await store.read((db) => laneStates(db, [lane]))).get(lane)?.stops, 2);
    assert.deepEqual(await store.read((db) => laneFacts(db, lane)), { running: true, stops: 2 });
  });

  test('whoever works on lanes finds out which of them are still his, how long, and what waits in them', async () => {
    const { store, another } = await open();
    const other = 'turn:s2';
    await enqueue(store);
    await enqueue(store, other);
    const held = await claimed(store, 'a');
    const [mine, theirs] = [await store.read((db) => laneStates(db, [lane, 'turn:gone'])), await (await another()).read((db) => laneStates(db, [other]))];
    assert.deepEqual([...mine.keys()], [lane]);
    const { leftMs = 0, ...state } = mine.get(lane) ?? {};
    assert.deepEqual(state, { owner: 'a', fence: held.fence, stops: 0, newestWaiting: 0 });
    assert.ok(leftMs > 0 && leftMs <= long, String(leftMs));
    assert.equal(theirs.get(other)?.owner, null);
    const keep = (event: InboundEvent, kind: 'chat' | 'control'): Promise<number | undefined> => store.write((tx) => insertInboxItem(tx, { event, class: kind, decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k' } }));
    const [, newest] = [await keep(sampleEvent(), 'chat'), await keep(sampleEvent(), 'chat'), await keep(sampleEvent(), 'control')];
    assert.equal((await store.read((db) => laneStates(db, [lane]))).get(lane)?.newestWaiting, newest);
    assert.deepEqual([...(await store.read((db) => laneStates(db, [])))], []);
  });

  test('a lane is running while its lease holds', async () => {
    const opened = await open();
    const { store } = opened;
    assert.deepEqual(await store.read((db) => laneFacts(db, lane)), { running: false, stops: 0 });
    await enqueue(store);
    await claimed(store, 'a');
    assert.equal((await store.read((db) => laneFacts(db, lane))).running, true);
    await elapse(opened, long * 2, 'lanes');
    assert.equal((await store.read((db) => laneFacts(db, lane))).running, false);
  });

  test('whoever has a lane can ask for it again, which ends the claim before; nobody else can', async () => {
    const { store } = await open();
    await enqueue(store);
    const again = (owner: string) => store.write((tx) => reclaimLane(tx, { lane, owner, leaseMs: long }));
    assert.equal(await again('a'), undefined, 'nobody has it');
    const first = await claimed(store, 'a');
    assert.equal(await again('b'), undefined);
    const second = await again('a');
    assert.ok(second !== undefined && second.fence > first.fence);
    await assert.rejects(store.write((tx) => holdLane(tx, first, long)), { code: 'lane_lost' });
    await store.write((tx) => holdLane(tx, second, long));
  });

  test('what a dead owner held is free at once, and what others hold stays theirs', async () => {
    const { store } = await open();
    for (const name of ['turn:a', 'turn:b']) await enqueue(store, name);
    await claim(store, 'dead', 'turn:a');
    await claim(store, 'alive', 'turn:b');
    let freed = 0;
    const seen = await notified(store, async () => {
      freed = await store.write((tx) => releaseOwner(tx, 'dead'));
    });
    assert.equal(freed, 1);
    assert.deepEqual(seen, ['lane turn:a']);
    assert.deepEqual(await ready(store), ['turn:a']);
  });

  test('the numbers of a lane that was pruned and came back go on growing', async () => {
    const { store, pass } = await open();
    await enqueue(store);
    const before = await claimed(store, 'a');
    await store.write((tx) => releaseLane(tx, before, { more: false }));
    await store.write((tx) => tx.q.deleteFrom('lanes').execute());
    await pass(2);
    await enqueue(store);
    assert.ok((await claimed(store, 'a')).fence > before.fence);
  });
});
