import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { readyLanes } from '../lanes/lanes.ts';
import { enqueueDelivery, settleDelivery } from '../messages/outbox.ts';
import { pruneCron } from '../retention/cron-retention.ts';
import { bindSession, createSession } from '../sessions/sessions.ts';
import { appendMessage } from '../sessions/transcripts.ts';
import type { Store } from '../store.ts';
import { dueJobs, findJob, insertJob, listJobs, lockJob, setJobState } from './cron-jobs.ts';
import type { JobSettings } from './cron-jobs.ts';
import { answeredAmong, beginRun, deliveryStatus, endRun, findRun, insertRun, keepResult, lastOutput, listRuns, newestRuns, openRuns, releaseWaiting, runOfSession, setRunSession } from './cron-runs.ts';
import type { CronRun } from './cron-runs.ts';

const settings: JobSettings = { name: 'Mail', prompt: 'Look', display: 'every 1h', schedule: { kind: 'interval', minutes: 60 }, zone: 'UTC', missed: 'once', overlap: 'skip', times: null, skills: [], deliver: 'local' };

const addJob = (store: Store, id = 'job1', nextAtMs = 1): Promise<void> => store.write((tx) => insertJob(tx, { id, agent: 'main', settings, nextAtMs }));

const addRun = async (store: Store, slot: string, state: 'ready' | 'waiting' = 'ready', jobId = 'job1'): Promise<number> => {
  const id = await store.write((tx) => insertRun(tx, { jobId, agent: 'main', slot, dueAtMs: 1, cause: 'schedule', state }));
  return id ?? assert.fail('the slot is taken');
};

const plan = { results: [], failures: [], problems: [] };

const found = async (store: Store, id: number): Promise<CronRun> => (await store.read((db) => findRun(db, id))) ?? assert.fail('no such run');

const statusOf = async (store: Store, id: number) => {
  const run = await found(store, id);
  return (await store.read((db) => deliveryStatus(db, [run]))).get(id);
};

eachStore((_engine, open) => {
  test('of all who give a slot its run, one does', async () => {
    const { store, another } = await open();
    const other = await another();
    await addJob(store);
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other).write((tx) => insertRun(tx, { jobId: 'job1', agent: 'main', slot: '100', dueAtMs: 100, cause: 'schedule', state: 'ready' }))));
    assert.equal(ids.filter((id) => id !== undefined).length, 1);
    assert.equal((await store.read((db) => readyLanes(db, 'cron', 10))).length, 1);
  });

  test('what is due comes in the order of its time, and the next is known', async () => {
    const { store } = await open();
    const { now } = await store.read((db) => db.q.selectNoFrom(db.now.as('now')).executeTakeFirstOrThrow());
    assert.deepEqual(await store.read((db) => dueJobs(db, 10)), { ids: [], nextInMs: undefined });
    for (const [id, inMs] of [['late', -50], ['later', -100], ['soon', 600_000]] as const) await addJob(store, id, Number(now) + inMs);
    const due = await store.read((db) => dueJobs(db, 10));
    assert.deepEqual(due.ids, ['later', 'late']);
    assert.ok(due.nextInMs !== undefined && due.nextInMs > 500_000 && due.nextInMs <= 600_000);
    assert.deepEqual(await store.read((db) => dueJobs(db, 1)), { ids: ['later'], nextInMs: 0 });
    await store.write((tx) => setJobState(tx, 'soon', { state: 'removed', nextAtMs: null }));
    assert.equal((await store.read((db) => dueJobs(db, 10))).nextInMs, undefined);
    assert.equal(await store.read((db) => findJob(db, 'soon')), undefined);
    assert.equal(await store.write((tx) => lockJob(tx, 'soon')), undefined);
  });

  test('a run goes its way once: begun, answered, ended', async () => {
    const { store } = await open();
    await addJob(store);
    const id = await addRun(store, '1');
    const next = await addRun(store, '2', 'waiting');
    await store.write(async (tx) => {
      await beginRun(tx, id, { plan, script: true });
      await setRunSession(tx, id, 's1');
    });
    assert.deepEqual(await store.read((db) => answeredAmong(db, [id, next, 9999])), [9999]);
    await store.write((tx) => keepResult(tx, id, { state: 'ok', output: 'fine' }));
    await store.write((tx) => keepResult(tx, id, { state: 'failed', error: 'a second answer' }));
    const answered = await store.read((db) => runOfSession(db, 's1'));
    assert.deepEqual([answered?.id, answered?.state, answered?.result, answered?.scriptAtMs !== null], [id, 'running', { state: 'ok', output: 'fine' }, true]);
    assert.deepEqual(await store.read((db) => answeredAmong(db, [id, next])), [id]);
    assert.equal(await store.write((tx) => endRun(tx, id, { state: 'ok', output: 'fine', deliveries: [] })), true);
    assert.equal(await store.write((tx) => endRun(tx, id, { state: 'failed', error: 'late', deliveries: [] })), false);
    assert.deepEqual([(await found(store, id)).state, (await found(store, id)).result], ['ok', null]);
    assert.equal((await store.read((db) => lastOutput(db, 'job1')))?.output, 'fine');
    await store.write((tx) => releaseWaiting(tx, 'job1'));
    assert.equal((await found(store, next)).state, 'ready');
    assert.deepEqual((await store.read((db) => openRuns(db, 'job1'))).map((run) => run.id), [next]);
    assert.equal((await store.read((db) => newestRuns(db, ['job1', 'job2']))).get('job1')?.id, next);
  });

  test('what became of a result is known apart from the run', async () => {
    const { store } = await open();
    await addJob(store);
    const end = async (slot: string, deliveries: CronRun['deliveries']): Promise<number> => {
      const id = await addRun(store, slot);
      await store.write((tx) => endRun(tx, id, { state: 'ok', output: 'x', deliveries }));
      return id;
    };
    const keys = ['k1', 'k2', 'k3'];
    await store.write(async (tx) => {
      for (const key of keys) await enqueueDelivery(tx, { message: { key, target: sampleTarget(), text: 'x' } }, {});
    });
    const rows = await store.read((db) => db.q.selectFrom('outbox').select(['id', 'key']).orderBy('key').execute());
    const settle = (key: string, state: 'sent' | 'failed', error?: string): Promise<void> => store.write((tx) => settleDelivery(tx, rows.find((row) => row.key === key)?.id ?? 0, { state, log: [], ...(error !== undefined && { error }) }));
    const none = await end('none', []);
    const both = await end('both', [{ to: 'telegram:1', keys: ['k1', 'k2'] }]);
    const broken = await end('broken', [{ to: 'telegram:1', keys: ['k3'] }, { to: 'pigeon', keys: [], error: 'no such platform' }]);
    const old = await end('old', [{ to: 'telegram:1', keys: ['pruned'] }]);
    assert.deepEqual(await statusOf(store, none), { state: 'none', errors: [] });
    assert.deepEqual(await statusOf(store, old), { state: 'delivered', errors: [] });
    await settle('k1', 'sent');
    assert.deepEqual(await statusOf(store, both), { state: 'pending', errors: [] });
    await settle('k2', 'sent');
    assert.deepEqual(await statusOf(store, both), { state: 'delivered', errors: [] });
    await settle('k3', 'failed', 'the chat is gone');
    assert.deepEqual(await statusOf(store, broken), { state: 'failed', errors: ['telegram:1: the chat is gone', 'pigeon: no such platform'] });
  });

  test('what is past its time goes with its conversation, unless somebody has taken that over', async () => {
    const { store } = await open();
    await addJob(store);
    await addJob(store, 'job2');
    for (const [index, id] of ['s1', 's2', 's3'].entries()) {
      const run = await addRun(store, String(index));
      await store.write(async (tx) => {
        await createSession(tx, { id, agent: 'main', account: 'cron', chatType: 'dm' });
        await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: 'question' });
        await setRunSession(tx, run, id);
        if (id !== 's3') await endRun(tx, run, { state: 'ok', deliveries: [] });
      });
    }
    await store.write(async (tx) => {
      await bindSession(tx, { sessionKey: 'k', sessionId: 's2', target: sampleTarget() });
      await setJobState(tx, 'job2', { state: 'removed', nextAtMs: null });
    });
    assert.equal(await store.write((tx) => pruneCron(tx, { keepDays: 1, batch: 10 })), 0, 'nothing is old yet');
    await store.write(async (tx) => {
      await tx.q.updateTable('cron_runs').set({ ended_at: 1 }).where('ended_at', 'is not', null).execute();
      await tx.q.updateTable('cron_jobs').set({ updated_at: 1 }).execute();
    });
    assert.equal(await store.write((tx) => pruneCron(tx, { keepDays: 1, batch: 10 })), 2);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('sessions').select('id').orderBy('id').execute())).map(({ id }) => id), ['s2', 's3']);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('messages').select('session_id').orderBy('id').execute())).map(({ session_id }) => session_id), ['s2', 's3']);
    assert.equal((await store.read((db) => listRuns(db, { limit: 10 }))).length, 1);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('cron_jobs').select('id').execute())).map(({ id }) => id), ['job1'], 'what is scheduled stays, what was removed is forgotten');
  });

  test('looking changes nothing', async () => {
    const { store } = await open();
    await addJob(store);
    await addRun(store, '1');
    const everything = () => store.read(async (db) => JSON.stringify([await db.q.selectFrom('cron_jobs').selectAll().execute(), await db.q.selectFrom('cron_runs').selectAll().execute(), await db.q.selectFrom('lanes').selectAll().execute()]));
    const before = await everything();
    await store.read(async (db) => {
      await dueJobs(db, 10);
      await listJobs(db, { completed: true });
      const runs = await listRuns(db, { limit: 10 });
      await deliveryStatus(db, runs);
      await newestRuns(db, ['job1']);
    });
    assert.equal(await everything(), before);
  });
});
