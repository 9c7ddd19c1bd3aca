import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import { createSession } from '../sessions/sessions.ts';
import { appendMessage } from '../sessions/transcripts.ts';
import { apiCall, endApiCall, findApiCall, hideApiCall, insertApiCall, rowsOfTurn } from './api-calls.ts';
import type { ApiCallResult } from './api-calls.ts';

const call = { id: 'resp_1', keyId: 'k1', kind: 'response', sessionId: 's1', request: { wishes: {}, wire: { a: 1 } }, hidden: false };
const result = (text: string): ApiCallResult => ({ reason: 'completed', error: null, rows: [{ role: 'assistant', content: text }], usage: noUsage, throughId: 7 });

eachStore((_engine, open) => {
  test('a call is found by the key that made it, under its kind, until it is hidden', async () => {
    const { store } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    const find = (keyId: string, kind = 'response') => store.read((db) => findApiCall(db, { id: 'resp_1', keyId, kind }));
    assert.deepEqual((await find('k1'))?.request, call.request);
    assert.equal(await find('k2'), undefined);
    assert.equal(await find('k1', 'run'), undefined);
    await store.write((tx) => hideApiCall(tx, 'resp_1'));
    assert.equal(await find('k1'), undefined);
    assert.equal((await store.read((db) => apiCall(db, 'resp_1')))?.sessionId, 's1');
  });

  test('the first end of a call counts', async () => {
    const { store } = await open();
    await store.write((tx) => insertApiCall(tx, call));
    await store.write((tx) => endApiCall(tx, 'resp_1', result('first')));
    await store.write((tx) => endApiCall(tx, 'resp_1', result('second')));
    const ended = await store.read((db) => apiCall(db, 'resp_1'));
    assert.deepEqual(ended?.result, result('first'));
    assert.ok((ended?.endedAtMs ?? 0) > 0);
  });

  test('of a turn only what the agent said is kept, without its thoughts', async () => {
    const { store } = await open();
    const last = await store.write(async (tx) => {
      await createSession(tx, { id: 's1', agent: 'main', account: 'api_server', chatType: 'dm' });
      await appendMessage(tx, { sessionId: 's1', turnId: 1 }, { role: 'user', content: 'earlier' });
      await appendMessage(tx, { sessionId: 's1', turnId: 2 }, { role: 'user', content: 'now' });
      return appendMessage(tx, { sessionId: 's1', turnId: 2 }, { role: 'assistant', content: 'said', reasoning: 'thought', finishReason: 'stop' });
    });
    assert.deepEqual(await store.read((db) => rowsOfTurn(db, { sessionId: 's1', turnId: 2 })), { rows: [{ role: 'assistant', content: 'said', finishReason: 'stop' }], throughId: last });
  });
});
