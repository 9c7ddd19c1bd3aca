import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { laneWaitMs, enqueueLane } from '../store/lanes.ts';
import { registerNode } from '../store/nodes.ts';
import { SqliteStore } from '../store/sqlite.ts';
import { maintain } from './maintain.ts';
import { storeSection } from './settings.ts';

const secondMs = 1000;
const hourMs = 3_600_000;

/** Maintenance of a store on a clock that only moves when told, and can be set. */
const newUpkeep = async () => {
  const home = await mkdtemp(join(tmpdir(), 'hermes-maintain-'));
  const mediaFolder = join(home, 'media');
  await mkdir(mediaFolder);
  const manual = manualClock();
  let setMs = 0;
  const clock = { ...manual, now: () => manual.now() + setMs };
  const store = new SqliteStore({ path: join(home, 'gateway.db'), clock, checkIntegrity: false });
  await store.write((tx) => registerNode(tx, { id: 'n', kind: 'gateway', pid: 1 }));
  const { log, lines } = capturingLogger();
  const end = new AbortController();
  let recovered = 0;
  const control = { recover: async () => void (recovered += 1) };
  const running = maintain({ store, clock, log, owner: 'n', control, signal: end.signal, home, mediaFolder, settings: () => ({ store: storeSection.schema.parse({ media_max_total_mb: 1 }) }) });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    store,
    clock,
    mediaFolder,
    logged: (name: string) => lines.filter((line) => line.includes(`"${name}"`)).length,
    set: (ms: number) => void (setMs += ms),
    /** One look of its own after the other, for as long. */
    async pass(ms: number) {
      for (let leftMs = ms; leftMs > 0; leftMs -= 30 * secondMs) {
        const before = recovered;
        await manual.advance(Math.min(leftMs, 30 * secondMs));
        await until(() => recovered > before && manual.waiting() === 1);
      }
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
      await store.close();
      await rm(home, { recursive: true });
    },
  };
};

test('it tidies up once an hour and the store itself every six, and files that people sent stay within their size', async () => {
  await using upkeep = await newUpkeep();
  for (const name of ['a', 'b']) await writeFile(join(upkeep.mediaFolder, name), Buffer.alloc(700_000));
  await upkeep.pass(hourMs - 30 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), (await readdir(upkeep.mediaFolder)).length], [0, 2]);
  await upkeep.pass(30 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), (await readdir(upkeep.mediaFolder)).length], [1, 1]);
  assert.equal(upkeep.logged('maintenance.tidied'), 0);
  upkeep.set(5 * hourMs);
  await upkeep.pass(60 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), upkeep.logged('maintenance.tidied'), upkeep.logged('maintenance.failed')], [2, 1, 0]);
});

test('a clock that is set back is noticed at the next look, and what waits follows it; one that is put on is no reason to do anything', async () => {
  await using upkeep = await newUpkeep();
  await upkeep.pass(30 * secondMs);
  await upkeep.store.write((tx) => enqueueLane(tx, { lane: 'out:a:1', kind: 'out', delayMs: 100 * secondMs }));
  upkeep.set(-5 * hourMs);
  await upkeep.pass(30 * secondMs);
  assert.equal(upkeep.logged('clock.set_back'), 1);
  assert.equal(await upkeep.store.read((db) => laneWaitMs(db, 'out:a:1')), 70 * secondMs);
  upkeep.set(5 * hourMs);
  await upkeep.pass(60 * secondMs);
  assert.equal(upkeep.logged('clock.set_back'), 1);
});
