import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger } from '../lib/logger.ts';
import { oweScrub } from '../store/copies/scrub.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { laneWaitMs, enqueueLane } from '../store/lanes/lanes.ts';
import { registerNode } from '../store/nodes.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { maintain } from './maintain.ts';
import { storeSection } from './settings.ts';

const secondMs = 1000;
const hourMs = 3_600_000;

/** Maintenance of a store on a clock that only moves when told, and can be set. */
const newUpkeep = async (settings: { readonly session_days?: number } = {}, expireSessions = (): Promise<void> => Promise.resolve()) => {
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
  const running = maintain({ store, clock, log, owner: 'n', control, signal: end.signal, home, mediaFolder, settings: () => ({ store: storeSection.schema.parse({ media_max_total_mb: 1, ...settings }) }), random: () => 0.5, expireSessions });
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    store,
    clock,
    home,
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

test('it tidies up some minutes after a start and then once an hour, the store itself every six, and files that people sent stay within their size', async () => {
  await using upkeep = await newUpkeep();
  for (const name of ['a', 'b']) await writeFile(join(upkeep.mediaFolder, name), Buffer.alloc(700_000));
  await upkeep.pass(180 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), (await readdir(upkeep.mediaFolder)).length], [0, 2]);
  await upkeep.pass(30 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), (await readdir(upkeep.mediaFolder)).length], [1, 1]);
  await upkeep.pass(hourMs - 30 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), upkeep.logged('maintenance.tidied')], [1, 1]);
  await upkeep.pass(30 * secondMs);
  assert.equal(upkeep.logged('maintenance.pruned'), 2);
  upkeep.set(6 * hourMs);
  await upkeep.pass(60 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.pruned'), upkeep.logged('maintenance.tidied'), upkeep.logged('maintenance.failed')], [3, 2, 0]);
});

test('a duty that fails is said, and the others are done all the same', async () => {
  await using upkeep = await newUpkeep({}, () => Promise.reject(new Error('broken')));
  upkeep.set(hourMs);
  await upkeep.pass(30 * secondMs);
  assert.deepEqual([upkeep.logged('maintenance.failed'), upkeep.logged('maintenance.pruned')], [1, 1]);
});

test('conversations in which nobody has spoken for store.session_days go with their files; without it they stay', async () => {
  for (const session_days of [undefined, 30]) {
    await using upkeep = await newUpkeep(session_days === undefined ? {} : { session_days });
    const add = async (id: string): Promise<void> => {
      await upkeep.store.write((tx) => createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' }));
      await mkdir(join(upkeep.mediaFolder, 'sessions', id), { recursive: true });
      await writeFile(join(upkeep.mediaFolder, 'sessions', id, 'a.png'), '');
    };
    await add('old');
    upkeep.set(31 * 24 * hourMs);
    await add('new');
    await upkeep.pass(60 * secondMs);
    const kept = (await upkeep.store.read((db) => db.q.selectFrom('sessions').select('id').orderBy('id').execute())).map(({ id }) => id);
    assert.deepEqual(kept, session_days === undefined ? ['new', 'old'] : ['new']);
    assert.deepEqual((await readdir(join(upkeep.mediaFolder, 'sessions'))).toSorted(), kept);
    assert.equal(upkeep.logged('maintenance.sessions_removed'), session_days === undefined ? 0 : 1);
  }
});

test('copies of what was sent go with the deliveries that name them, long before what people sent', async () => {
  await using upkeep = await newUpkeep();
  for (const [name, days] of [['outgoing/2026-01/old.md', 16], ['outgoing/2026-01/new.md', 14], ['spoken/old.ogg', 16], ['sessions/s/theirs.png', 16]] as const) {
    const path = join(upkeep.mediaFolder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, name);
    const at = new Date(upkeep.clock.now() + hourMs - days * 24 * hourMs);
    await utimes(path, at, at);
  }
  upkeep.set(hourMs);
  await upkeep.pass(30 * secondMs);
  const left = (await readdir(upkeep.mediaFolder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  assert.deepEqual(left.toSorted(), ['new.md', 'theirs.png']);
});

test('what somebody has erased and could not take out of the log is taken out at the next look', async () => {
  await using upkeep = await newUpkeep();
  await upkeep.store.write(oweScrub);
  assert.ok((await stat(join(upkeep.home, 'gateway.db-wal'))).size > 100_000);
  await upkeep.pass(30 * secondMs);
  assert.equal(upkeep.logged('maintenance.scrubbed'), 1);
  assert.ok((await stat(join(upkeep.home, 'gateway.db-wal'))).size < 50_000);
  await upkeep.pass(30 * secondMs);
  assert.equal(upkeep.logged('maintenance.scrubbed'), 1);
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
