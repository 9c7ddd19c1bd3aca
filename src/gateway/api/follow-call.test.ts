import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import type { TurnEvent } from '../../core/turn.ts';
import { endApiCall, insertApiCall } from '../../store/api-calls.ts';
import type { ApiCallResult } from '../../store/api-calls.ts';
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
