import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findJob } from '../store/cron/cron-jobs.ts';
import { SqliteStore } from '../store/engines/sqlite.ts';
import { addJob } from './cron.test-support.ts';
import { fireJob } from './fire-job.ts';
import { rescheduleJobs } from './reschedule-jobs.ts';

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const back = { backMs: dayMs, slackMs: 30_000 };

/** Ten in the morning in Berlin. */
const tuesdayMs = Date.UTC(2026, 5, 2, 8);

let folder = '';
let nowMs = tuesdayMs;
let store: SqliteStore;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-reschedule-'));
  store = new SqliteStore({ path: join(folder, 'gateway.db'), clock: { now: () => nowMs, sleep: () => Promise.resolve() }, checkIntegrity: false });
});

after(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const nextOf = async (id: string): Promise<number | null | undefined> => (await store.read((db) => findJob(db, id)))?.nextAtMs;

const runsOf = (id: string): Promise<readonly { readonly due_at: number }[]> => store.read((db) => db.q.selectFrom('cron_runs').select('due_at').where('job_id', '=', id).where('state', '!=', 'skipped').execute());

test('after a day was taken back, an appointment comes at the new time and not for a second time, a rhythm goes on, and a single run keeps its moment', async () => {
  nowMs = tuesdayMs - 2 * 60 * minuteMs;
  const daily = await addJob(store, { schedule: '0 9 * * *' });
  nowMs = tuesdayMs - 60 * minuteMs;
  assert.equal(await store.write((tx) => fireJob(tx, daily.id)), true);
  nowMs = tuesdayMs;
  const rhythm = await addJob(store, { schedule: 'every 30m' });
  const once = await addJob(store, { schedule: 'in 30m' });

  nowMs = tuesdayMs - dayMs;
  const since = await addJob(store, { schedule: 'every 10m' });
  await store.write((tx) => rescheduleJobs(tx, back));
  assert.equal(await nextOf(daily.id), tuesdayMs - 60 * minuteMs);
  assert.equal(await nextOf(rhythm.id), nowMs + 30 * minuteMs);
  assert.equal(await nextOf(once.id), tuesdayMs + 30 * minuteMs);
  assert.equal(await nextOf(since.id), nowMs + 10 * minuteMs, 'what was made by the new time stays');

  nowMs = tuesdayMs - 60 * minuteMs;
  await store.write((tx) => fireJob(tx, daily.id));
  assert.equal((await runsOf(daily.id)).length, 1);
  assert.equal(await nextOf(daily.id), tuesdayMs - 60 * minuteMs + dayMs);
});
