import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { createSession } from '../sessions/sessions.ts';
import type { Store } from '../store.ts';
import { deferLane, expediteDeferred, lockAgent, readyTurnsBut, turnsAtWork, wakeNextOf } from './agent-lanes.ts';
import { claimLane, enqueueLane, laneWaitMs, turnLane } from './lanes.ts';

const speak = (store: Store, id: string, agent: string): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, agent, account: 'telegram', chatType: 'dm' });
    await enqueueLane(tx, { lane: turnLane(id), kind: 'turn' });
  });
const claim = (store: Store, id: string, leaseMs = 60_000) => store.write((tx) => claimLane(tx, { lane: turnLane(id), owner: 'o', leaseMs }));
const ready = async (store: Store, but: readonly string[], limit = 10): Promise<readonly string[]> => (await store.read((db) => readyTurnsBut(db, but, limit))).map(({ lane }) => lane);

eachStore((_engine, open) => {
  test('turns under way are counted for each agent, as long as somebody holds them', async () => {
    const { store, pass } = await open();
    for (const [id, agent] of [['s1', 'a'], ['s2', 'a'], ['s3', 'b'], ['s4', 'a']] as const) await speak(store, id, agent);
    assert.deepEqual([...(await store.read(turnsAtWork))], []);
    await claim(store, 's1');
    await claim(store, 's2', 1);
    await claim(store, 's3');
    await pass(5);
    assert.deepEqual([...(await store.read(turnsAtWork))].toSorted(), [['a', 1], ['b', 1]]);
  });

  test('what could go on is found in order, without the agents that have enough to do and without what is held', async () => {
    const { store, pass } = await open();
    for (const [id, agent] of [['s1', 'a'], ['s2', 'b'], ['s3', 'a'], ['s4', 'c']] as const) {
      await speak(store, id, agent);
      await pass(2);
    }
    assert.deepEqual(await ready(store, []), ['s1', 's2', 's3', 's4'].map(turnLane));
    assert.deepEqual(await ready(store, ['a']), ['s2', 's4'].map(turnLane));
    assert.deepEqual(await ready(store, ['a'], 1), [turnLane('s2')], 'those that are left out take no room');
    await claim(store, 's2');
    assert.deepEqual(await ready(store, ['a']), [turnLane('s4')]);
  });

  test('the conversation of an agent that has waited longest is woken, and no other', async () => {
    const { store, pass } = await open();
    const woken: string[] = [];
    using _subscription = store.listen('lane', (lane) => void woken.push(lane));
    const heard = async (count: number): Promise<readonly string[]> => {
      while (woken.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
      return woken.splice(0);
    };
    for (const [id, agent] of [['s1', 'b'], ['s2', 'a'], ['s3', 'a']] as const) {
      await speak(store, id, agent);
      await pass(2);
    }
    await heard(3);
    await store.write(async (tx) => {
      await lockAgent(tx, 'a');
      await wakeNextOf(tx, 'nobody');
      await wakeNextOf(tx, 'a');
    });
    assert.deepEqual(await heard(1), [turnLane('s2')]);
  });

  test('a conversation that is put off waits until its time, until something is said, or until limits change', async () => {
    const { store } = await open();
    for (const id of ['s1', 's2', 's3']) await speak(store, id, 'a');
    await claim(store, 's3');
    await store.write(async (tx) => {
      for (const id of ['s1', 's2', 's3']) await deferLane(tx, turnLane(id), 3_600_000);
    });
    assert.deepEqual(await ready(store, ['x']), []);
    assert.ok(((await store.read((db) => laneWaitMs(db, turnLane('s1')))) ?? 0) > 3_000_000);
    await store.write((tx) => enqueueLane(tx, { lane: turnLane('s1'), kind: 'turn' }));
    assert.deepEqual(await ready(store, ['x']), [turnLane('s1')]);
    await store.write(expediteDeferred);
    assert.deepEqual((await ready(store, ['x'])).toSorted(), ['s1', 's2'].map(turnLane));
  });
});
