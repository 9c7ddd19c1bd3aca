import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sampleTarget } from '../../../test/support/samples.ts';
import { claimMemoryWork, enqueueMemoryWork, postponeMemoryWork } from '../agents/memory-work.ts';
import { findQuestionByKey, keepQuestion } from '../agents/questions.ts';
import { claimSpeech, planSpeech, postponeSpeech } from '../agents/speech-work.ts';
import { claimLane, enqueueLane, laneWaitMs } from '../lanes/lanes.ts';
import { readLimit, writeLimit } from '../limits.ts';
import { closeGate, closedGates } from '../messages/gates.ts';
import { compressionFailure, noteCompressionFailure } from '../sessions/compressions.ts';
import { claimHandoff, failAbandonedHandoffs, requestHandoff } from '../sessions/handoffs.ts';
import { createSession } from '../sessions/sessions.ts';
import { claimTitle, planTitle, postponeTitle } from '../sessions/title-work.ts';
import type { Store, Writing } from '../store.ts';
import { followClock, followingColumns } from './follow-clock.ts';
import { SqliteStore } from './sqlite.ts';

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

const ask = (tx: Writing, key: string): Promise<unknown> =>
  keepQuestion(tx, { key, sessionId: 's', target: sampleTarget(), question: { text: 'Go on?', options: [{ label: 'Yes', value: 'y' }], timeoutMs: 600_000, answerer: 'asker' }, purpose: { type: 'command', inboxId: 1 } });

const leftOf = async (store: Store, key: string): Promise<number | undefined> => (await store.read((db) => findQuestionByKey(db, key)))?.leftMs;

test('after a day was taken back, titles, speech, memory, summaries, questions and handoffs of the dead wait no longer than they were to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-clock-'));
  let nowMs = Date.UTC(2026, 5, 2);
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: { now: () => nowMs, sleep: () => Promise.resolve() }, checkIntegrity: false });
  await store.write((tx) => ask(tx, 'old'));
  nowMs += 60_000;
  await store.write(async (tx) => {
    await planTitle(tx, { sessionId: 's', agent: 'main' });
    await postponeTitle(tx, 's', 20_000);
    await planSpeech(tx, { turnId: 1, sessionId: 's', agent: 'main', target: sampleTarget(), text: 'x' });
    await postponeSpeech(tx, 1, { delayMs: 20_000, error: 'e' });
    await enqueueMemoryWork(tx, { key: 'k', agent: 'main', sessionId: 's', kind: 'turn', payload: {} }, 10);
    await postponeMemoryWork(tx, 1, { delayMs: 20_000, error: null });
    await noteCompressionFailure(tx, 's', { error: 'e', ladderMs: [20_000] });
    await createSession(tx, { id: 's', agent: 'main', account: 'telegram', chatType: 'dm' });
    await requestHandoff(tx, 's', { destination: 'telegram' });
    await claimHandoff(tx, 's', { owner: 'gone', leaseMs: 20_000 });
  });
  nowMs += 10_000 - dayMs;
  await store.write((tx) => ask(tx, 'new'));
  await store.write((tx) => followClock(tx, dayMs));

  const claimed = (): Promise<readonly unknown[]> =>
    store.write(async (tx) => {
      const claim = { owner: 'o', leaseMs: 1, agent: 'main', accounts: [sampleTarget().account] };
      return [await claimTitle(tx, claim), await claimSpeech(tx, claim), await claimMemoryWork(tx, claim)].map((work) => work !== undefined);
    });
  assert.deepEqual(await claimed(), [false, false, false]);
  assert.equal((await store.read((db) => compressionFailure(db, 's')))?.waitMs, 10_000);
  assert.deepEqual([await leftOf(store, 'old'), await leftOf(store, 'new')], [530_000, 600_000]);
  nowMs += 10_001;
  assert.deepEqual(await claimed(), [true, true, true]);
  assert.deepEqual(await store.write(failAbandonedHandoffs), ['s']);
  await store.close();
  await rm(folder, { recursive: true });
});

/** When something was. A clock that goes back makes it lie ahead, which nobody waits for. */
const moments = new Set(
  'created_at updated_at started_at ended_at seen_at active_at received_at done_at cut_at since connected_at last_event_at last_alive_at last_call_at first_at last_at approved_at set_at changed_at asked_at granted_at used_at failed_at requested_at settled_at spoken_at script_at rotated_at'.split(' '),
);
/** Followed by `rescheduleJobs`, shown only, and by those who try to connect themselves. */
const others = new Set(['cron_jobs.next_at', 'cron_runs.due_at', 'accounts.next_try_at']);

test('every column that somebody may wait for is moved', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-clock-'));
  const store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: { now: () => 1, sleep: () => Promise.resolve() }, checkIntegrity: false });
  const { rows } = await store.read((db) => sql<{ table: string; column: string }>`select m.name as "table", c.name as "column" from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and c.type = 'bigint'`.execute(db.q));
  const times = rows.filter(({ column }) => /(_at|_until|not_before|_ms|since)$/.test(column)).filter(({ column }) => !moments.has(column)).map(({ table, column }) => `${table}.${column}`).filter((name) => !others.has(name));
  assert.deepEqual(times.toSorted(), followingColumns.toSorted());
  await store.close();
  await rm(folder, { recursive: true });
});
