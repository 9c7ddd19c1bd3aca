import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { findJob } from '../store/cron/cron-jobs.ts';
import { addJob, makeDue, runsOf, statesOf } from './cron.test-support.ts';
import { fireJob } from './fire-job.ts';

eachStore((_engine, open) => {
  test('a run that does not take place beside another is none of the runs that a job is to have', async () => {
    const { store } = await open();
    const { id } = await addJob(store, { schedule: 'every 30m', times: 2 });
    const fire = async (): Promise<readonly unknown[]> => {
      await makeDue(store, id);
      await store.write((tx) => fireJob(tx, id));
      const job = await store.read((db) => findJob(db, id));
      return [job?.state, job?.fired, job?.nextAtMs === null];
    };
    assert.deepEqual(await fire(), ['scheduled', 1, false]);
    assert.deepEqual(await fire(), ['scheduled', 1, false], 'the second run is still to come');
    assert.deepEqual(await statesOf(store), ['ready', 'skipped']);
    const [first] = await runsOf(store);
    await store.write((tx) => tx.q.updateTable('cron_runs').set({ state: 'ok' }).where('id', '=', first?.id ?? 0).execute());
    assert.deepEqual(await fire(), ['completed', 2, true]);
    assert.deepEqual(await statesOf(store), ['ok', 'skipped', 'ready']);
  });
});
