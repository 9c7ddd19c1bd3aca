import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { StoreError } from '../../core/errors.ts';
import type { Store } from '../store.ts';
import { claimHandoff, completeHandoff, extendHandoff, failAbandonedHandoffs, failHandoff, getHandoffState, listPendingHandoffs, requestHandoff } from './handoffs.ts';
import { createSession } from './sessions.ts';

type Step = readonly [verb: string, ...args: string[]];

const { cases } = JSON.parse(readFileSync(new URL('../../../test/vectors/handoff.json', import.meta.url), 'utf8')) as { cases: readonly { id: string; in: readonly Step[]; out: readonly unknown[] }[] };

const claim = { owner: 'a', leaseMs: 60_000 };

const perform = (store: Store, [verb, id = '', more = '']: Step): Promise<unknown> => {
  switch (verb) {
    case 'request':
      return store.write((tx) => requestHandoff(tx, id, { destination: more }));
    case 'state':
      return store.read((db) => getHandoffState(db, id));
    case 'claim':
      return store.write((tx) => claimHandoff(tx, id, claim));
    case 'complete':
      return store.write((tx) => completeHandoff(tx, id)).then(() => null);
    case 'fail':
      return store.write((tx) => failHandoff(tx, id, more)).then(() => null);
    case 'pending':
      return store.read(listPendingHandoffs).then((found) => found.map(({ sessionId }) => sessionId));
    default:
      throw new Error(`no such step: ${verb}`);
  }
};

eachStore((_engine, open) => {
  const withSessions = async () => {
    const opened = await open();
    for (const id of ['s1', 's2']) {
      await opened.store.write((tx) => createSession(tx, { id, agent: 'main', account: 'local', chatType: 'dm' }));
      await opened.pass(2);
    }
    return opened;
  };

  for (const { id, in: steps, out } of cases.filter((each) => each.id.startsWith('state-'))) {
    test(`vector ${id}`, async () => {
      const { store } = await withSessions();
      const answers: unknown[] = [];
      for (const step of steps) answers.push(await perform(store, step));
      assert.deepEqual(answers, out);
    });
  }

  test('of several gateways exactly one takes a handoff', async () => {
    const { store, another } = await withSessions();
    await store.write((tx) => requestHandoff(tx, 's1', { destination: 'telegram' }));
    const other = await another();
    const claimed = await Promise.all([store, other, store, other].map((each, i) => each.write((tx) => claimHandoff(tx, 's1', { owner: `g${i}`, leaseMs: 60_000 }))));
    assert.equal(claimed.filter(Boolean).length, 1);
  });

  test('whoever waits may give up only while nobody has taken it', async () => {
    const { store } = await withSessions();
    await store.write((tx) => requestHandoff(tx, 's1', { destination: 'telegram' }));
    await store.write((tx) => claimHandoff(tx, 's1', claim));
    assert.equal(await store.write((tx) => failHandoff(tx, 's1', 'timed out', ['pending'])), false);
    assert.equal((await store.read((db) => getHandoffState(db, 's1')))?.state, 'running');
    await store.write((tx) => completeHandoff(tx, 's1'));
    assert.equal(await store.write((tx) => failHandoff(tx, 's1', 'too late')), false);
  });

  test('what a gateway left behind is failed once its claim has run out, and an extended claim has not', async () => {
    const { store, pass } = await withSessions();
    for (const id of ['s1', 's2']) {
      await store.write((tx) => requestHandoff(tx, id, { destination: 'telegram' }));
      await store.write((tx) => claimHandoff(tx, id, { owner: id, leaseMs: 50 }));
    }
    await store.write((tx) => extendHandoff(tx, 's2', { owner: 's2', leaseMs: 60_000 }));
    await assert.rejects(store.write((tx) => extendHandoff(tx, 's2', { owner: 'somebody else', leaseMs: 60_000 })), StoreError);
    await pass(100);
    assert.deepEqual(await store.write(failAbandonedHandoffs), ['s1']);
    assert.deepEqual(await store.read((db) => getHandoffState(db, 's1')), { state: 'failed', platform: 'telegram', error: 'the gateway ended while it moved the conversation' });
    await assert.rejects(store.write((tx) => extendHandoff(tx, 's1', { owner: 's1', leaseMs: 60_000 })), StoreError);
    assert.equal((await store.read((db) => getHandoffState(db, 's2')))?.state, 'running');
  });
});
