import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { claimLane, enqueueLane, expediteLanes, extendLanes, heldLane, holdLane, laneFacts, laneWaitMs, readyLanes, releaseLane, releaseOwner, requestStop, stopCounts } from './lanes.ts';
import type { Claim } from './lanes.ts';
import type { Store } from './store.ts';

const lane = 'turn:s1';
const long = 60_000;
const short = 60;

const enqueue = (store: Store, name = lane, delayMs?: number): Promise<unknown> =>
  store.write((tx) => enqueueLane(tx, { lane: name, kind: name.startsWith('out:') ? 'out' : 'turn', ...(delayMs !== undefined && { delayMs }) }));

const claim = (store: Store, owner: string, leaseMs = long, name = lane): Promise<Claim | undefined> => store.write((tx) => claimLane(tx, { lane: name, owner, leaseMs }));

const claimed = async (store: Store, owner: string, leaseMs = long): Promise<Claim> => {
  const got = await claim(store, owner, leaseMs);
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
    const { store, another, pass } = await open();
    const other = await another();
    await enqueue(store);
    const stalled = await claimed(store, 'a', short);
    await pass(short * 2);
    assert.deepEqual(await ready(other), [lane]);
    await store.write((tx) => holdLane(tx, stalled, short));
    assert.equal(await claim(other, 'b'), undefined);
    await pass(short * 2);
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
    const { store, pass } = await open();
    await enqueue(store);
    const older = await claimed(store, 'a', short);
    await pass(short * 2);
    const newer = await claimed(store, 'a');
    await assert.rejects(store.write((tx) => holdLane(tx, older, long)), { code: 'lane_lost' });
    await store.write((tx) => holdLane(tx, newer, long));
  });

  test('signs of life keep a lane', async () => {
    const { store, another, pass } = await open();
    await enqueue(store);
    await claimed(store, 'a', short);
    await store.write((tx) => extendLanes(tx, { owner: 'a', lanes: [lane], leaseMs: long }));
    await store.write((tx) => extendLanes(tx, { owner: 'a', lanes: [], leaseMs: 0 }));
    await pass(short * 2);
    assert.equal(await claim(await another(), 'b'), undefined);
  });

  test('a held lane cannot be claimed before its time', async () => {
    const { store, pass } = await open();
    await enqueue(store, lane, 1000);
    assert.equal(await claim(store, 'a'), undefined);
    assert.deepEqual(await ready(store), []);
    const wait = (await store.read((db) => laneWaitMs(db, lane))) ?? 0;
    assert.ok(wait > 0 && wait <= 1000, String(wait));
    await pass(1050);
    assert.deepEqual(await ready(store), [lane]);
    await claimed(store, 'a');
    assert.equal(await store.read((db) => laneWaitMs(db, lane)), undefined);
  });

  test('newer work without delay ends a hold, and further parts prolong it', async () => {
    const { store, pass } = await open();
    await enqueue(store, lane, 1500);
    await pass(900);
    await enqueue(store, lane, 1500);
    await pass(900);
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
    const { store, pass } = await open();
    await enqueue(store);
    const first = await claimed(store, 'a');
    await store.write((tx) => releaseLane(tx, first, { more: true, readyInMs: 80 }));
    assert.equal(await claim(store, 'a'), undefined);
    await pass(100);
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
    assert.deepEqual([...(await store.read((db) => stopCounts(db, 'a')))], [[lane, 2]]);
    assert.deepEqual(await store.read((db) => laneFacts(db, lane)), { running: true, stops: 2 });
  });

  test('a lane is running while its lease holds', async () => {
    const { store, pass } = await open();
    assert.deepEqual(await store.read((db) => laneFacts(db, lane)), { running: false, stops: 0 });
    await enqueue(store);
    await claimed(store, 'a', short);
    assert.equal((await store.read((db) => laneFacts(db, lane))).running, true);
    await pass(short * 2);
    assert.equal((await store.read((db) => laneFacts(db, lane))).running, false);
  });

  test('what a dead owner held is free at once, and what others hold stays theirs', async () => {
    const { store } = await open();
    for (const name of ['turn:a', 'turn:b']) await enqueue(store, name);
    await claim(store, 'dead', long, 'turn:a');
    await claim(store, 'alive', long, 'turn:b');
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
