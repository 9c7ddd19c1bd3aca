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

const dayMs = 86_400_000;

test('what waited before the clock was set back waits as long as it was to, and what was stored since is left alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-clock-'));
  let nowMs = Date.UTC(2026, 5, 2);
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: { now: () => nowMs, sleep: () => Promise.resolve() }, checkIntegrity: false });
  await store.write(async (tx) => {
    await enqueueLane(tx, { lane: 'out:a:1', kind: 'out', delayMs: 5000 });
    await enqueueLane(tx, { lane: 'turn:held', kind: 'turn' });
    await claimLane(tx, { lane: 'turn:held', owner: 'gone', leaseMs: 60_000 });
    await closeGate(tx, { scope: 'account:a', forMs: 90_000, reason: 'r' });
    await writeLimit(tx, 'l', { count: 3, forMs: 90_000 });
  });
  nowMs += 10_000 - dayMs;
  await store.write((tx) => enqueueLane(tx, { lane: 'out:a:new', kind: 'out', delayMs: 5000 }));
  const heard: string[] = [];
  store.listen('lane', (lane) => heard.push(lane));
  await store.write((tx) => followClock(tx, { backMs: dayMs, slackMs: 30_000 }));
  assert.deepEqual(heard, ['out:a:1', 'turn:held']);
  assert.equal(await store.read((db) => laneWaitMs(db, 'out:a:1')), 0);
  assert.equal(await store.read((db) => laneWaitMs(db, 'out:a:new')), 5000);
  assert.deepEqual(await store.read(closedGates), [{ scope: 'account:a', leftMs: 80_000 }]);
  assert.deepEqual(await store.read((db) => readLimit(db, 'l')), { count: 3, leftMs: 80_000 });
  const claim = () => store.write((tx) => claimLane(tx, { lane: 'turn:held', owner: 'next', leaseMs: 1000 }));
  assert.equal(await claim(), undefined);
  nowMs += 50_001;
  assert.equal((await claim())?.owner, 'next');
  await store.close();
  await rm(folder, { recursive: true });
});
