import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../core/transcript.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { abandonedDelegations, addSpent, delegationsOf, endDelegation, forgetDelegations, keepDelegation, requestDelegationStop, runningDelegations, stopName, stoppedDelegations } from './delegations.ts';
import { registerNode } from '../nodes.ts';
import { createSession, findSession } from '../sessions/sessions.ts';

eachStore((_engine, open) => {
  test('work is known before it begins, and its end counts once', async () => {
    const { store, another } = await open();
    await store.write((tx) => keepDelegation(tx, { id: 'd1', sessionId: 's1', request: { tasks: ['look'] }, owner: 'n1' }));
    const other = await another();
    assert.equal(await other.read((db) => runningDelegations(db, 's1')), 1);
    assert.equal(await store.write((tx) => endDelegation(tx, 'd1', { state: 'done', result: { ok: true } })), true);
    assert.equal(await store.write((tx) => endDelegation(tx, 'd1', { state: 'lost' })), false);
    const [found] = await other.read((db) => delegationsOf(db, 's1', 5));
    assert.deepEqual([found?.state, found?.request, found?.result, found?.endedAtMs === null], ['done', { tasks: ['look'] }, { ok: true }, false]);
    assert.equal(await other.read((db) => runningDelegations(db, 's1')), 0);
    assert.deepEqual(await store.read((db) => delegationsOf(db, 's2', 5)), []);
  });

  test('what a node did that is gone is abandoned; what lives or stands apart is not', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await registerNode(tx, { id: 'alive', kind: 'gateway', pid: 1 });
      await keepDelegation(tx, { id: 'd1', sessionId: 's1', request: {}, owner: 'gone' });
      await keepDelegation(tx, { id: 'd2', sessionId: 's1', request: {}, owner: 'alive' });
      await keepDelegation(tx, { id: 'd3', sessionId: 's1', request: {} });
    });
    assert.deepEqual((await store.read((db) => abandonedDelegations(db, 60_000))).map(({ id }) => id), ['d1']);
    await store.write((tx) => endDelegation(tx, 'd1', { state: 'lost' }));
    assert.deepEqual(await store.read((db) => abandonedDelegations(db, 60_000)), []);
  });

  test('a wish to end it reaches the node that does it, and only while it runs', async () => {
    const { store } = await open();
    const heard: string[] = [];
    using _listening = store.listen('stop', (name) => void heard.push(name));
    await store.write((tx) => keepDelegation(tx, { id: 'd1', sessionId: 's1', request: {}, owner: 'n1' }));
    assert.equal(await store.write((tx) => requestDelegationStop(tx, 'd1')), true);
    assert.deepEqual(await store.read((db) => stoppedDelegations(db, 'n1')), ['d1']);
    assert.deepEqual(await store.read((db) => stoppedDelegations(db, 'n2')), []);
    await store.write((tx) => endDelegation(tx, 'd1', { state: 'done' }));
    assert.equal(await store.write((tx) => requestDelegationStop(tx, 'd1')), false);
    assert.deepEqual(await store.read((db) => stoppedDelegations(db, 'n1')), []);
    assert.deepEqual(heard, [stopName('d1')]);
  });

  test('what helpers used is added to the conversation, and counts as no turn of it', async () => {
    const { store } = await open();
    await store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));
    await store.write((tx) => addSpent(tx, 's1', { ...noUsage, inputTokens: 10, outputTokens: 3 }));
    const session = await store.read((db) => findSession(db, 's1'));
    assert.deepEqual([session?.usage.inputTokens, session?.usage.outputTokens, session?.turnCount], [10, 3, 0]);
  });

  test('what ended long ago is forgotten, what runs is not', async () => {
    const { store, pass } = await open();
    await store.write(async (tx) => {
      for (const id of ['d1', 'd2']) await keepDelegation(tx, { id, sessionId: 's1', request: {}, owner: 'n1' });
      await keepDelegation(tx, { id: 'd3', sessionId: 's1', request: {} });
      await endDelegation(tx, 'd1', { state: 'done' });
    });
    await pass(20);
    await store.write((tx) => forgetDelegations(tx, 10));
    assert.deepEqual((await store.read((db) => delegationsOf(db, 's1', 5))).map(({ id }) => id), ['d2']);
  });
});
