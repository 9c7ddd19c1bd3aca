import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import { endApiCall, insertApiCall } from '../../store/api/api-calls.ts';
import { appendRunEvents } from '../../store/api/api-run-events.ts';
import type { StoredRunEvent } from '../../store/api/api-run-events.ts';
import type { Store } from '../../store/store.ts';
import { followRun } from './follow-run.ts';

const submit = (store: Store): Promise<void> =>
  store.write(async (tx) => {
    await insertApiCall(tx, { id: 'run_1', keyId: 'k1', kind: 'run', sessionId: 's1', request: {}, hidden: false });
    await appendRunEvents(tx, 'run_1', [{ type: 'text', delta: 'a' }]);
  });

const collect = async (events: AsyncIterable<StoredRunEvent>): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { event } of events) types.push(event.type);
  return types;
};

eachStore((_engine, open) => {
  test('a run is followed from what is kept of it to its end', async () => {
    const { store, clock } = await open();
    await submit(store);
    const following = collect(followRun({ store, clock }, { id: 'run_1', afterSeq: 0 }, new AbortController().signal));
    await store.write(async (tx) => {
      await endApiCall(tx, 'run_1', { reason: 'completed', error: null, rows: [], usage: noUsage, throughId: 0 });
      await appendRunEvents(tx, 'run_1', [{ type: 'end' }]);
    });
    assert.deepEqual(await following, ['text', 'end']);
  });

  test('a reader that has gone away is not read for until the run says something again', async () => {
    const { store, clock } = await open();
    await submit(store);
    const gone = new AbortController();
    const events = followRun({ store, clock }, { id: 'run_1', afterSeq: 0 }, gone.signal);
    assert.equal((await events.next()).value?.event.type, 'text');
    const next = events.next();
    gone.abort();
    assert.deepEqual(await next, { done: true, value: undefined });
  });
});
