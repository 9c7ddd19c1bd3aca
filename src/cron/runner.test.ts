import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { findJob } from '../store/cron/cron-jobs.ts';
import { deliveryStatus } from '../store/cron/cron-runs.ts';
import { addJob, answerTurns, asked, hurried, makeDue, over, runsOf, sampleDeps, sampleOptions, sampleRules, sentTexts, start, statesOf, until } from './cron.test-support.ts';
import type { CronDeps } from './deps.ts';
import { changeJobAsAsked, pauseJob, removeJob, runJobNow, stopJob } from './manage-jobs.ts';

const minuteMs = 60_000;

eachStore((engine, open) => {
  /** Looks sooner than usual for what no notification tells. */
  const clockOf = (deps: Partial<CronDeps>): Partial<CronDeps> => ({ clock: hurried, ...deps });

  test('a job that is due asks its agent in a conversation of its own, and the answer goes where the job says', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { deliver: 'origin, telegram', skills: ['brief'], model: 'm-1', toolsets: ['web'] });
    await makeDue(store, job.id);
    await asked(store, 1);
    const [question] = await answerTurns(store, 'All quiet.');
    assert.match(question?.prompt ?? '', /^\[Scheduled job "What is new\?", due .* Europe\/Berlin\. .*telegram:7 and telegram:42/);
    assert.match(question?.prompt ?? '', /Say it in one line\.[\s\S]*\n\nWhat is new\?$/);
    assert.match(question?.sessionId ?? '', new RegExp(`^cron_${job.id}_\\d{8}_\\d{6}_\\d+$`));
    await over(store, 'ok');
    assert.deepEqual(await sentTexts(store), ['telegram:7 All quiet.', 'telegram:42 All quiet.']);
    const session = await store.read((db) => db.q.selectFrom('sessions').select(['agent', 'account', 'settings']).where('id', '=', question?.sessionId ?? '').executeTakeFirst());
    assert.deepEqual(session, { agent: 'main', account: 'cron', settings: JSON.stringify({ model: 'm-1', toolsets: ['web'] }) });
    const [run] = await runsOf(store);
    assert.deepEqual(run && { output: run.output, delivery: (await store.read((db) => deliveryStatus(db, [run]))).get(run.id) }, { output: 'All quiet.', delivery: { state: 'pending', errors: [] } });
  });

  test('a job is woken for at its time, and is due again at the next', { skip: engine === 'postgres' && 'its clock cannot be moved' }, async () => {
    const { store, clock, pass } = await open();
    await using _runner = start(sampleDeps(store, { clock }));
    const job = await addJob(store, { schedule: 'every 30m' });
    await pass(29 * minuteMs);
    assert.deepEqual(await statesOf(store), []);
    await pass(minuteMs + 10);
    const [first] = await runsOf(store);
    assert.equal(first?.dueAtMs, job.createdAtMs + 30 * minuteMs);
    await answerTurns(store, 'one');
    await pass(30 * minuteMs);
    await answerTurns(store, 'two');
    await pass(10);
    assert.deepEqual(await statesOf(store), ['ok', 'ok']);
  });

  test('two runners on one database give every slot one run', async () => {
    const { store, another } = await open();
    const other = await another();
    const options = (): ReturnType<typeof sampleOptions> => sampleOptions({ max_parallel_jobs: 100 });
    await using _a = start(sampleDeps(store, clockOf({ owner: 'node-a', options })));
    await using _b = start(sampleDeps(other, clockOf({ owner: 'node-b', options })));
    const jobs = await Promise.all(Array.from({ length: 25 }, (_, index) => addJob(store, { prompt: `question ${index}`, overlap: 'parallel' })));
    for (let round = 1; round <= 3; round += 1) {
      await Promise.all(jobs.map(({ id }) => makeDue(store, id)));
      await asked(store, round * jobs.length);
    }
    await answerTurns(store, 'done');
    await until(async () => (await statesOf(store)).every((state) => state === 'ok'), 'all runs to end');
    const runs = await runsOf(store);
    assert.equal(runs.length, 75);
    assert.equal(new Set(runs.map(({ jobId, slot }) => `${jobId} ${slot}`)).size, 75);
    assert.equal((await sentTexts(store)).length, 75);
  });

  test('a slot that has had its run does not get another, whatever happens to the clock', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { schedule: 'every 2h', overlap: 'parallel' });
    const slotMs = job.createdAtMs - 1000;
    for (const _again of [1, 2, 3]) {
      await store.write(async (tx) => {
        await tx.q.updateTable('cron_jobs').set({ next_at: slotMs }).where('id', '=', job.id).execute();
        tx.notify('cron', `job:${job.id}`);
      });
      await until(async () => ((await store.read((db) => findJob(db, job.id)))?.nextAtMs ?? 0) > slotMs, 'the slot to be dealt with');
    }
    assert.deepEqual((await runsOf(store)).map(({ slot }) => slot), [String(slotMs)]);
    assert.equal((await store.read((db) => findJob(db, job.id)))?.fired, 1);
  });

  test('very many jobs that are due at the same moment run once each', async () => {
    const { store } = await open();
    const count = engine === 'sqlite' ? 1000 : 200;
    await store.write(async (tx) => {
      const row = { agent: 'main', definition: JSON.stringify({ prompt: 'x', display: '0 9 * * *', skills: [], deliver: 'local' }), schedule: JSON.stringify({ kind: 'cron', expr: '0 9 * * *' }), zone: 'UTC', missed: 'once', overlap: 'skip', state: 'scheduled' as const, next_at: tx.now, times: null, origin: null, paused_reason: null, created_at: 0, updated_at: 0 };
      for (let index = 0; index < count; index += 1) await tx.q.insertInto('cron_jobs').values({ ...row, id: `job${index}`, name: `job ${index}` }).execute();
    });
    await using _runner = start(sampleDeps(store, clockOf({ options: () => sampleOptions({ max_parallel_jobs: 1000 }) })));
    await asked(store, count);
    await answerTurns(store, 'done');
    await until(async () => (await statesOf(store)).every((state) => state === 'ok'), 'all runs to end');
    assert.equal(new Set((await runsOf(store)).map(({ jobId }) => jobId)).size, count);
    assert.equal((await runsOf(store)).length, count);
  });

  test('what is due while an earlier run is under way is skipped, waits, or runs beside it', async () => {
    for (const [overlap, during, after] of [
      ['skip', ['running', 'skipped', 'skipped'], ['ok', 'skipped', 'skipped']],
      ['queue', ['running', 'waiting', 'waiting'], ['ok', 'ok', 'ok']],
      ['parallel', ['running', 'running', 'running'], ['ok', 'ok', 'ok']],
    ] as const) {
      const { store } = await open();
      await using _runner = start(sampleDeps(store, clockOf({})));
      const job = await addJob(store, { overlap });
      for (const count of [1, 2, 3]) {
        await makeDue(store, job.id);
        await until(async () => (await runsOf(store)).length === count && (await statesOf(store)).every((state) => state !== 'ready'), `${overlap} ${count}`);
      }
      assert.deepEqual(await statesOf(store), during, overlap);
      await until(async () => {
        await answerTurns(store, 'done');
        return JSON.stringify(await statesOf(store)) === JSON.stringify(after);
      }, `${overlap}: all runs to end`);
    }
  });

  test('what was missed is made up for as the job says, and recorded', async () => {
    for (const [missed, states, note] of [
      ['once', ['running'], /also stands for 4 earlier/],
      ['skip', ['missed'], /5 missed/],
      ['all(2)', ['running', 'waiting', 'missed'], /3 missed/],
    ] as const) {
      const { store } = await open();
      const job = await addJob(store, { schedule: 'every 10m', missed });
      await makeDue(store, job.id, 47 * minuteMs);
      await using _runner = start(sampleDeps(store, clockOf({})));
      await until(async () => JSON.stringify(await statesOf(store)) === JSON.stringify(states), `${missed} to be made up for`);
      const runs = await runsOf(store);
      assert.match(runs.map((run) => run.note ?? '').join(' '), note);
      const first = Math.min(...runs.map((run) => run.dueAtMs));
      const next = await store.read((db) => db.q.selectFrom('cron_jobs').select(['next_at', db.now.as('now')]).where('id', '=', job.id).executeTakeFirstOrThrow());
      assert.equal(((next.next_at ?? 0) - first) % (10 * minuteMs), 0, 'the rhythm stays');
      assert.ok((next.next_at ?? 0) > Number(next.now));
    }
  });

  test('a job that has run as often as it was to is over, and a single one after its run', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const twice = await addJob(store, { times: 2, overlap: 'parallel' });
    const once = await addJob(store, { schedule: '2h' });
    for (const count of [1, 2]) {
      await makeDue(store, twice.id);
      await until(async () => (await runsOf(store, twice.id)).length === count, `run ${count}`);
    }
    await makeDue(store, once.id);
    await until(async () => (await runsOf(store, once.id)).length === 1, 'the single run');
    const jobs = await store.read((db) => db.q.selectFrom('cron_jobs').select(['state', 'next_at', 'fired']).orderBy('created_at').execute());
    assert.deepEqual(jobs, [{ state: 'completed', next_at: null, fired: 2 }, { state: 'completed', next_at: null, fired: 1 }]);
  });

  test('what a process leaves behind is taken up by the next: before the agent is asked, while it answers, and after', async () => {
    const { store } = await open();
    const die = (): Promise<unknown> => store.write((tx) => tx.q.updateTable('lanes').set({ owner: 'dead', lease_until: 0 }).where('kind', '=', 'cron').execute());
    const job = await addJob(store);
    await makeDue(store, job.id);
    const opened = Promise.withResolvers<undefined>();
    {
      await using _stuck = start(sampleDeps(store, clockOf({ agent: () => opened.promise })));
      await over(store, 'running');
      await die();
      await using _next = start(sampleDeps(store, clockOf({ owner: 'node-b' })));
      await asked(store, 1);
      opened.resolve(undefined);
    }
    await die();
    {
      await using _while = start(sampleDeps(store, clockOf({ owner: 'node-c' })));
      await until(async () => (await store.read((db) => db.q.selectFrom('lanes').select('owner').where('kind', '=', 'cron').executeTakeFirst()))?.owner === 'node-c', 'the run to be taken up');
    }
    await answerTurns(store, 'after all');
    assert.deepEqual(await statesOf(store), ['running']);
    await using _after = start(sampleDeps(store, clockOf({ owner: 'node-d' })));
    await over(store, 'ok');
    assert.deepEqual(await sentTexts(store), ['telegram:7 after all']);
    assert.equal((await runsOf(store)).length, 1);
  });

  test('a run can be stopped at any time, and a job that was removed stays removed', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { overlap: 'queue' });
    for (const count of [1, 2]) {
      await makeDue(store, job.id);
      await until(async () => (await runsOf(store)).length === count, `run ${count}`);
    }
    await asked(store, 1);
    assert.equal(await store.write((tx) => stopJob(tx, job.id)), 2);
    await over(store, 'stopped', 'stopped');
    assert.deepEqual(await answerTurns(store, 'too late'), []);
    await makeDue(store, job.id);
    await asked(store, 2);
    await store.write((tx) => removeJob(tx, job.id));
    await assert.rejects(store.write((tx) => changeJobAsAsked(tx, sampleRules(), { id: job.id, request: { prompt: 'again' } })), /has been removed/);
    await assert.rejects(store.write((tx) => runJobNow(tx, job.id, 'x')), /has been removed/);
    await makeDue(store, job.id);
    await until(async () => (await statesOf(store)).at(-1) === 'stopped', 'the last run to be stopped');
    assert.equal((await runsOf(store)).length, 3);
    assert.deepEqual(await sentTexts(store), []);
  });

  test('a paused job is not due, and what waited for its run does not take place', async () => {
    const { store } = await open();
    await using _runner = start(sampleDeps(store, clockOf({})));
    const job = await addJob(store, { overlap: 'queue' });
    for (const count of [1, 2]) {
      await makeDue(store, job.id);
      await until(async () => (await runsOf(store)).length === count, `run ${count}`);
    }
    await asked(store, 1);
    const paused = await store.write((tx) => pauseJob(tx, job.id, 'holiday'));
    assert.deepEqual({ state: paused.state, next: paused.nextAtMs, reason: paused.pausedReason }, { state: 'paused', next: null, reason: 'holiday' });
    await answerTurns(store, 'done');
    await over(store, 'ok', 'skipped');
    await store.write((tx) => runJobNow(tx, job.id, 'x'));
    await store.write((tx) => runJobNow(tx, job.id, 'x'));
    await asked(store, 2);
    assert.deepEqual((await runsOf(store)).map(({ cause }) => cause), ['schedule', 'schedule', 'manual']);
  });
});
