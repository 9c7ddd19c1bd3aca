import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import { elapse } from '../elapse.test-support.ts';
import { forgetNode, registerNode } from '../nodes.ts';
import type { Store } from '../store.ts';
import { createSession, findSession, setFirstTitle, setTitle } from './sessions.ts';
import { claimTitle, finishTitle, planTitle, postponeTitle, releaseTitles } from './title-work.ts';
import { addUsageTotals } from './turn-totals.ts';

const plan = (store: Store, sessionId: string): Promise<void> => store.write((tx) => planTitle(tx, { sessionId, agent: 'main' }));
const claim = (store: Store, owner = 'a', leaseMs = 60_000) => store.write((tx) => claimTitle(tx, { owner, leaseMs }));
const begin = (store: Store, id: string): Promise<void> => store.write((tx) => createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' }));
const titleOf = async (store: Store, id: string): Promise<string | null | undefined> => (await store.read((db) => findSession(db, id)))?.title;

eachStore((_engine, open) => {
  test('a conversation waits once, is taken by one, and is done when its owner says so', async () => {
    const { store } = await open();
    await store.write((tx) => registerNode(tx, { id: 'a', kind: 'gateway', pid: 1 }));
    await plan(store, 's1');
    await plan(store, 's1');
    assert.deepEqual(await claim(store), { sessionId: 's1', agent: 'main', attempts: 1 });
    assert.equal(await claim(store, 'b'), undefined);
    assert.equal(await store.write((tx) => finishTitle(tx, { sessionId: 's1', owner: 'b' })), false);
    assert.equal(await store.write((tx) => finishTitle(tx, { sessionId: 's1', owner: 'a' })), true);
    assert.equal(await claim(store), undefined);
  });

  test('what was put back comes again later, and what its owner did not get to at once', async () => {
    const opened = await open();
    const { store } = opened;
    await store.write((tx) => registerNode(tx, { id: 'a', kind: 'gateway', pid: 1 }));
    await plan(store, 's1');
    await claim(store);
    await store.write((tx) => postponeTitle(tx, 's1', 60_000));
    assert.equal(await claim(store), undefined);
    await elapse(opened, 60_000, 'title_work');
    assert.equal((await claim(store))?.attempts, 2);
    await store.write((tx) => releaseTitles(tx, 'a'));
    assert.equal((await claim(store))?.attempts, 2, 'what was given back is no attempt');
    await store.write((tx) => forgetNode(tx, 'a'));
    assert.equal((await claim(store, 'b'))?.attempts, 3, 'a process that is gone has no lease');
  });

  test('a first title is numbered when it is taken, and never takes the place of another', async () => {
    const { store } = await open();
    for (const id of ['s1', 's2', 's3']) await begin(store, id);
    const heard: string[] = [];
    using _titled = store.listen('titled', (id) => void heard.push(id));
    for (const id of ['s1', 's2', 's3']) assert.equal(await store.write((tx) => setFirstTitle(tx, id, 'Trip to Rome')), true);
    assert.deepEqual([await titleOf(store, 's1'), await titleOf(store, 's2'), await titleOf(store, 's3')], ['Trip to Rome', 'Trip to Rome #2', 'Trip to Rome #3']);
    await store.write((tx) => setTitle(tx, 's1', 'Mine'));
    assert.equal(await store.write((tx) => setFirstTitle(tx, 's1', 'Another')), false);
    assert.equal(await store.write((tx) => setFirstTitle(tx, 'gone', 'Another')), false);
    assert.equal(await titleOf(store, 's1'), 'Mine');
    assert.ok(['s1', 's2', 's3'].every((id) => heard.includes(id)));
  });

  test('a person and the gateway who name a conversation at the same moment leave it with the name of the person', async () => {
    const { store, another } = await open();
    const other = await another();
    for (let i = 0; i < 10; i += 1) {
      await begin(store, `s${i}`);
      await Promise.all([store.write((tx) => setFirstTitle(tx, `s${i}`, 'Found')), other.write((tx) => setTitle(tx, `s${i}`, `Given ${i}`))]);
      assert.equal(await titleOf(store, `s${i}`), `Given ${i}`);
    }
  });

  test('what a title has cost is added to its conversation, in which nobody has spoken for that', async () => {
    const { store, pass } = await open();
    await begin(store, 's1');
    const before = await store.read((db) => findSession(db, 's1'));
    await pass(20);
    await store.write((tx) => addUsageTotals(tx, 's1', { ...noUsage, inputTokens: 100, outputTokens: 5, cost: { usd: 0.25, status: 'actual' } }));
    await store.write((tx) => addUsageTotals(tx, 's1', { ...noUsage, inputTokens: 10, outputTokens: 1, cost: { usd: 0.5, status: 'estimated' } }));
    const after = await store.read((db) => findSession(db, 's1'));
    assert.deepEqual(after, { ...before, usage: { ...noUsage, inputTokens: 110, outputTokens: 6, cost: { usd: 0.75, status: 'estimated' } } });
  });
});
