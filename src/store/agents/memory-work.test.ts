import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import { takeSessionEnd } from '../sessions/session-ends.ts';
import { createSession, endSession, reopenSession } from '../sessions/sessions.ts';
import type { Store } from '../store.ts';
import { addMemoryProposal, listMemoryProposals, removeMemoryProposal } from './memory-proposals.ts';
import { claimMemoryWork, clearMemoryWork, countMemoryWork, enqueueMemoryWork, finishMemoryWork, postponeMemoryWork, releaseMemoryWork } from './memory-work.ts';

const enqueue = (store: Store, key: string, more: { sessionId?: string; agent?: string; most?: number } = {}): Promise<number> =>
  store.write((tx) => enqueueMemoryWork(tx, { key, agent: more.agent ?? 'main', sessionId: more.sessionId ?? 's1', kind: 'turn', payload: { key } }, more.most ?? 100));

const claim = async (store: Store, owner = 'a', leaseMs = 60_000) => store.write((tx) => claimMemoryWork(tx, { agent: 'main', owner, leaseMs }));

eachStore((_engine, open) => {
  test('work is taken up in order, once, and is gone when it is done', async () => {
    const { store } = await open();
    await enqueue(store, 'one');
    await enqueue(store, 'one');
    await enqueue(store, 'other', { agent: 'second' });
    assert.equal(await store.read((db) => countMemoryWork(db, 'main')), 1);
    const work = await claim(store);
    assert.deepEqual({ ...work, id: 0, ageMs: 0 }, { id: 0, key: 'one', agent: 'main', sessionId: 's1', kind: 'turn', payload: { key: 'one' }, attempts: 1, ageMs: 0 });
    assert.equal(await claim(store, 'b'), undefined);
    await store.write((tx) => finishMemoryWork(tx, work?.id ?? 0));
    assert.equal(await store.read((db) => countMemoryWork(db, 'main')), 0);
    assert.equal(await store.write((tx) => clearMemoryWork(tx, 'second')), 1);
  });

  test('within a conversation nothing overtakes, other conversations go on', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store, '1a');
    await enqueue(store, '1b');
    await enqueue(store, '2a', { sessionId: 's2' });
    const first = await claim(store);
    assert.equal((await claim(store))?.key, '2a');
    await store.write((tx) => postponeMemoryWork(tx, first?.id ?? 0, { delayMs: 60_000, error: 'not reached' }));
    assert.equal(await claim(store), undefined, '1b waits for 1a');
    await elapse(opened, 60_000, 'memory_work');
    const again = await claim(store);
    assert.deepEqual([again?.key, again?.attempts], ['1a', 2]);
    assert.ok((again?.ageMs ?? 0) >= 60_000);
  });

  test('what a dead process has taken up comes back, at once when it said so', async () => {
    const { store, pass } = await open();
    await enqueue(store, 'one');
    await claim(store, 'dead', 100);
    await pass(150);
    assert.deepEqual([(await claim(store, 'b'))?.attempts], [2]);
    await store.write((tx) => releaseMemoryWork(tx, 'b'));
    assert.equal((await claim(store, 'c'))?.attempts, 2, 'what was given back in order is no attempt');
  });

  test('too much work pushes out the oldest', async () => {
    const { store } = await open();
    for (const key of ['1', '2', '3']) assert.equal(await enqueue(store, key, { most: 3 }), 0);
    assert.equal(await enqueue(store, '4', { most: 3 }), 1);
    assert.equal((await claim(store))?.key, '2');
  });

  test('several owners never get the same work', async () => {
    const { store, another } = await open();
    const stores = [store, await another()];
    for (let i = 0; i < 20; i += 1) await enqueue(store, `k${i}`, { sessionId: `s${i}` });
    const got = await Promise.all(Array.from({ length: 30 }, (_, i) => claim(stores[i % 2] ?? store, `o${i}`)));
    const keys = got.filter((work) => work !== undefined).map((work) => work.key);
    assert.equal(keys.length, 20);
    assert.equal(new Set(keys).size, 20);
  });

  test('the end of a conversation is on the list until somebody takes it, once per end', async () => {
    const { store } = await open();
    await store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));
    await store.write((tx) => endSession(tx, 's1', 'idle'));
    await store.write((tx) => endSession(tx, 's1', 'new'));
    assert.equal(await store.write((tx) => takeSessionEnd(tx, 'other')), undefined);
    const end = await store.write((tx) => takeSessionEnd(tx, 'main'));
    assert.deepEqual({ ...end, endedAtMs: 0 }, { sessionId: 's1', agent: 'main', reason: 'idle', endedAtMs: 0 });
    assert.equal(await store.write((tx) => takeSessionEnd(tx, 'main')), undefined);
    await store.write((tx) => reopenSession(tx, 's1'));
    await store.write((tx) => endSession(tx, 's1', 'new'));
    assert.equal((await store.write((tx) => takeSessionEnd(tx, 'main')))?.reason, 'new');
  });

  test('proposals wait in order, seen by whose conversation they come from, and are decided once', async () => {
    const { store } = await open();
    const add = (userId: string | null, sessionId: string, most = 10) => store.write((tx) => addMemoryProposal(tx, { agent: 'main', sessionId, account: 'telegram', userId, target: 'memory', change: { sessionId } }, most));
    const first = await add('7', 's1');
    await add(null, 's2');
    await add('8', 's3');
    assert.equal(await add('8', 's4', 3), undefined, 'three are waiting already');
    const sessions = async (of?: { account: string; userId: string; sessionId: string }) => (await store.read((db) => listMemoryProposals(db, 'main', of))).map((proposal) => proposal.sessionId);
    assert.deepEqual(await sessions(), ['s1', 's2', 's3']);
    assert.deepEqual(await sessions({ account: 'telegram', userId: '7', sessionId: 'x' }), ['s1']);
    assert.deepEqual(await sessions({ account: 'web', userId: '7', sessionId: 's2' }), ['s2']);
    assert.equal(await store.write((tx) => removeMemoryProposal(tx, first ?? 0)), true);
    assert.equal(await store.write((tx) => removeMemoryProposal(tx, first ?? 0)), false);
  });
});
