import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { followClock } from './follow-clock.ts';
import { closeGate, closedGates } from './gates.ts';
import { claimLane, enqueueLane, laneWaitMs } from './lanes.ts';
import { readLimit, writeLimit } from './limits.ts';
import { SqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const claim = (store: Store, lane: string, owner: string) => store.write((tx) => claimLane(tx, { lane, owner, leaseMs: 60_000 }));

test('after a day was taken back, what was ready is ready, what waits does so for as long as it was to, and claims last no longer', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-clock-'));
  let nowMs = Date.UTC(2026, 5, 2);
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: { now: () => nowMs, sleep: () => Promise.resolve() }, checkIntegrity: false });
  const enqueue = (lane: string, delayMs = 0) => store.write((tx) => enqueueLane(tx, { lane, kind: 'turn', delayMs }));
  await enqueue('turn:ready');
  nowMs += hourMs;
  await enqueue('turn:later', 20_000);
  await enqueue('turn:held');
  await claim(store, 'turn:held', 'gone');
  await store.write(async (tx) => {
    await closeGate(tx, { scope: 'account:a', forMs: 90_000, reason: 'r' });
    await writeLimit(tx, 'l', { count: 3, forMs: 90_000 });
  });
  nowMs += 10_000 - dayMs;
  await enqueue('turn:new');
  const fresh = await claim(store, 'turn:new', 'a');
  const heard: string[] = [];
  store.listen('lane', (lane) => heard.push(lane));
  await store.write((tx) => followClock(tx, dayMs));

  assert.deepEqual(heard.toSorted(), ['turn:held', 'turn:later', 'turn:ready']);
  assert.deepEqual(await store.read((db) => Promise.all(['turn:ready', 'turn:later'].map((lane) => laneWaitMs(db, lane)))), [0, 10_000]);
  assert.deepEqual(await store.read(closedGates), [{ scope: 'account:a', leftMs: 80_000 }]);
  assert.deepEqual(await store.read((db) => readLimit(db, 'l')), { count: 3, leftMs: 80_000 });
  assert.deepEqual([(await claim(store, 'turn:ready', 'b'))?.owner, fresh?.owner, await claim(store, 'turn:new', 'b'), await claim(store, 'turn:held', 'b')], ['b', 'a', undefined, undefined]);
  nowMs += 50_001;
  assert.equal((await claim(store, 'turn:held', 'b'))?.owner, 'b');
  await store.close();
  await rm(folder, { recursive: true });
});
