import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { manualClock } from '../../lib/clock.ts';
import { noUsage } from '../../core/transcript.ts';
import { endApiCall, insertApiCall } from './api-calls.ts';
import { appendRunEvents, newestRunEvent, resumeRunEvents, runEventsAfter } from './api-run-events.ts';
import type { RunEvent } from './api-run-events.ts';
import { defaultRetention } from '../retention/retention-limits.ts';
import { prune } from '../retention/retention.ts';
import type { Store } from '../store.ts';

const text = (delta: string): RunEvent => ({ type: 'text', delta });
const said: RunEvent = { type: 'said' };
const started = (callId: string): RunEvent => ({ type: 'tool_started', callId, name: 'terminal', preview: 'ls' });
const finished = (callId: string): RunEvent => ({ type: 'tool_finished', callId, name: 'terminal', ok: true, durationMs: 5 });

const all = async (store: Store, seq = 0): Promise<readonly (readonly [number, RunEvent])[]> => (await store.read((db) => runEventsAfter(db, { runId: 'run_1', seq, limit: 100 }))).map(({ seq: at, event }) => [at, event]);
const append = (store: Store, ...events: readonly RunEvent[]): Promise<void> => store.write((tx) => appendRunEvents(tx, 'run_1', events));

eachStore((_engine, open) => {
  test('events are numbered in order, read from any of them on, and wake who waits', async () => {
    const { store } = await open();
    const woken = Promise.withResolvers<string>();
    using _listening = store.listen('run', (id) => woken.resolve(id));
    await append(store, text('a'), text('b'));
    await append(store, said);
    await store.write((tx) => appendRunEvents(tx, 'run_2', [text('other')]));
    assert.deepEqual(await all(store), [[1, text('a')], [2, text('b')], [3, said]]);
    assert.deepEqual(await all(store, 1), [[2, text('b')], [3, said]]);
    assert.deepEqual((await store.read((db) => newestRunEvent(db, 'run_1')))?.seq, 2);
    assert.equal(await woken.promise, 'run_1');
  });

  test('events that are added side by side all get a number of their own', async () => {
    const { store } = await open();
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((delta) => append(store, text(delta))));
    assert.deepEqual((await all(store)).map(([seq]) => seq), [1, 2, 3, 4, 5]);
  });

  test('after a crash, words of a message that is not kept are taken out and their numbers stay unused', async () => {
    const { store } = await open();
    await append(store, text('I look. '), said, started('c1'), finished('c1'), text('\n\nIt is hal'));
    await store.write((tx) => resumeRunEvents(tx, 'run_1', ['I look. ']));
    assert.deepEqual(await all(store, 4), [[6, { type: 'resumed', keptThrough: 2 }]]);
    await append(store, text('\n\nIt is half past.'));
    assert.equal((await all(store)).filter(([, event]) => event.type === 'text').map(([, event]) => (event.type === 'text' ? event.delta : '')).join(''), 'I look. \n\nIt is half past.');
  });

  test('a message that is kept and was not told to its end is told whole', async () => {
    const { store } = await open();
    await append(store, text('one'), said, text('\n\ntw'));
    await store.write((tx) => resumeRunEvents(tx, 'run_1', ['one', 'two', '', 'three']));
    const words = (await all(store)).flatMap(([, event]) => (event.type === 'text' ? [event.delta] : []));
    assert.equal(words.join(''), 'one\n\ntwo\n\nthree');
    assert.equal((await all(store)).filter(([, event]) => event.type === 'said').length, 4);
  });

  test('a mark for a message that was never kept goes with its words', async () => {
    const { store } = await open();
    await append(store, text('all of it'), said);
    await store.write((tx) => resumeRunEvents(tx, 'run_1', []));
    assert.deepEqual(await all(store), [[3, { type: 'resumed', keptThrough: 0 }]]);
  });

  test('a tool that was at work when the process ended is told as interrupted, once', async () => {
    const { store } = await open();
    await append(store, said, started('c1'), finished('c1'), started('c2'));
    await store.write((tx) => resumeRunEvents(tx, 'run_1', ['']));
    await store.write((tx) => resumeRunEvents(tx, 'run_1', ['']));
    const ends = (await all(store)).flatMap(([, event]) => (event.type === 'tool_finished' ? [[event.callId, event.interrupted]] : []));
    assert.deepEqual(ends, [['c1', undefined], ['c2', true]]);
  });

  test('events go with the call that they belong to', async () => {
    const { store } = await open();
    for (const id of ['run_1', 'run_2']) {
      await store.write((tx) => insertApiCall(tx, { id, keyId: 'k', kind: 'run', sessionId: 's', request: {}, hidden: false }));
      await store.write((tx) => appendRunEvents(tx, id, [text('a'), { type: 'end' }]));
    }
    await store.write((tx) => endApiCall(tx, 'run_1', { reason: 'completed', error: null, rows: [], usage: noUsage, throughId: 1 }));
    await store.write((tx) => tx.q.updateTable('api_calls').set({ ended_at: 1 }).where('id', '=', 'run_1').execute());
    const { deleted } = await prune(store, defaultRetention, { clock: manualClock(), signal: new AbortController().signal });
    assert.deepEqual([deleted['api_run_events'], deleted['api_calls']], [2, 1]);
    assert.deepEqual(await all(store), []);
    assert.equal((await store.read((db) => runEventsAfter(db, { runId: 'run_2', seq: 0, limit: 10 }))).length, 2);
  });
});
