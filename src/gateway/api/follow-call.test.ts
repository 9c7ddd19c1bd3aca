import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { endApiCall, insertApiCall } from '../../store/api/api-calls.ts';
import type { ApiCallResult } from '../../store/api/api-calls.ts';
import type { Store } from '../../store/store.ts';
import { beginCall, submitCall } from './api-turn.test-support.ts';
import { CallHub } from './call-hub.ts';
import { followCall } from './follow-call.ts';

const result: ApiCallResult = { reason: 'completed', error: null, rows: [{ role: 'assistant', content: 'said elsewhere', finishReason: 'stop' }], usage: noUsage, throughId: 3 };
const call = { id: 'resp_1', keyId: 'k1', kind: 'response', sessionId: 's1', request: {}, hidden: false };

const collect = async (events: AsyncIterable<TurnEvent>): Promise<readonly TurnEvent['type'][]> => {
  const types: TurnEvent['type'][] = [];
  for await (const event of events) types.push(event.type);
  return types;
};

eachStore((_engine, open) => {
  test('a call that another process answers is followed by what is stored', async () => {
    const { store, clock, pass } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    const following = collect(followCall({ store, clock }, { id: 'resp_1', mayHaveEnded: false }, new CallHub().follow('resp_1')));
    await store.write((tx) => endApiCall(tx, 'resp_1', result));
    await pass(1000);
    assert.deepEqual(await following, ['text', 'message', 'usage', 'end']);
  });

  test('a call that has ended is told at once, with why it failed', async () => {
    const { store, clock } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    await store.write((tx) => endApiCall(tx, 'resp_1', { ...result, rows: [], reason: 'model_error', error: 'Busy.', errorCode: 'overloaded' }));
    const events: TurnEvent[] = [];
    for await (const event of followCall({ store, clock }, { id: 'resp_1', mayHaveEnded: true }, new CallHub().follow('resp_1'))) events.push(event);
    assert.deepEqual(events.at(-1), { type: 'end', reason: 'model_error', error: { code: 'overloaded', sentence: 'Busy.' } });
  });

  test('what is said in the moment in which the end is stored is told, and an end behind it', async () => {
    const { store, clock } = await open();
    await store.write(async (tx) => {
      await insertApiCall(tx, call);
      await submitCall(tx, 's1', 'resp_1');
    });
    const begun = await beginCall(store, 's1', 'one');
    const hub = new CallHub();
    /** The turn ends while the store is being asked. */
    const slow = Object.create(store, {
      read: {
        async value(work: Parameters<Store['read']>[0]) {
          hub.onEvent(begun, { type: 'text', delta: 'the last words' });
          await store.write((tx) => endApiCall(tx, 'resp_1', result));
          return store.read(work);
        },
      },
    }) as Store;
    assert.deepEqual(await collect(followCall({ store: slow, clock }, { id: 'resp_1', mayHaveEnded: true }, hub.follow('resp_1'))), ['text', 'end']);
  });

  test('whoever does not listen any more is not waited for', async () => {
    const { store, clock } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    const gone = new AbortController();
    const following = collect(followCall({ store, clock }, { id: 'resp_1', mayHaveEnded: true, signal: gone.signal }, new CallHub().follow('resp_1')));
    gone.abort();
    assert.deepEqual(await following, []);
  });

  test('who follows when the gateway stops is told that the turn goes on later', async () => {
    const { store, clock } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    const hub = new CallHub();
    const following = followCall({ store, clock }, { id: 'resp_1', mayHaveEnded: false }, hub.follow('resp_1'));
    const first = following.next();
    hub.close();
    assert.deepEqual((await first).value, { type: 'end', reason: 'suspended' });
    await following.return();
  });
});
