import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { allStatus, leaseAccount, saveStatus } from './accounts/accounts.ts';
import { claimLane, enqueueLane, readyLanes } from './lanes/lanes.ts';
import { buryGateways, forgetNode, lastSignOf, livingGateways, registerNode, touchNode } from './nodes.ts';
import type { Store } from './store.ts';

const hold = (store: Store, owner: string, lane: string): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane, kind: 'turn' });
    await claimLane(tx, { lane, owner, leaseMs: 60_000 });
  });

const nodeIds = async (store: Store): Promise<string[]> => (await store.read((db) => db.q.selectFrom('nodes').select('id').orderBy('id').execute())).map((row) => row.id);
const ready = async (store: Store): Promise<string[]> => (await store.read((db) => readyLanes(db, 'turn', 10))).map((row) => row.lane);

eachStore((_engine, open) => {
  test('a node that says goodbye leaves its lanes to others', async () => {
    const { store, pass } = await open();
    const node = { id: 'n1', kind: 'gateway', pid: 1 } as const;
    await store.write((tx) => registerNode(tx, node));
    await hold(store, 'n1', 'turn:a');
    await pass(2);
    await store.write((tx) => touchNode(tx, node));
    const row = await store.read((db) => db.q.selectFrom('nodes').selectAll().executeTakeFirstOrThrow());
    assert.ok(row.seen_at > row.started_at);
    await store.write((tx) => forgetNode(tx, 'n1'));
    assert.deepEqual(await nodeIds(store), []);
    assert.deepEqual(await ready(store), ['turn:a']);
  });

  test('a node that was forgotten while it was silent is there again with its next sign of life', async () => {
    const { store } = await open();
    const node = { id: 'n1', kind: 'gateway', pid: 7 } as const;
    await store.write((tx) => touchNode(tx, node));
    assert.deepEqual(await store.read((db) => livingGateways(db, 60_000)), [{ host: hostname(), pid: 7 }]);
    await store.write((tx) => touchNode(tx, node));
    assert.deepEqual(await nodeIds(store), ['n1']);
  });

  test('a new gateway frees the lanes and accounts of gateways before it, and leaves a command its own', async () => {
    const { store } = await open();
    await store.write((tx) => registerNode(tx, { id: 'old', kind: 'gateway', pid: 1 }));
    await store.write((tx) => registerNode(tx, { id: 'tool', kind: 'cli', pid: 2 }));
    await hold(store, 'old', 'turn:a');
    await hold(store, 'tool', 'turn:b');
    await store.write((tx) => leaseAccount(tx, { account: 'telegram', owner: 'old', leaseMs: 60_000 }));
    await store.write((tx) => leaseAccount(tx, { account: 'slack', owner: 'tool', leaseMs: 60_000 }));
    assert.equal(await store.write(buryGateways), 1);
    assert.deepEqual(await nodeIds(store), ['tool']);
    assert.deepEqual(await ready(store), ['turn:a']);
    assert.equal(await store.write((tx) => leaseAccount(tx, { account: 'telegram', owner: 'new', leaseMs: 60_000 })), true);
    assert.equal(await store.write((tx) => leaseAccount(tx, { account: 'slack', owner: 'new', leaseMs: 60_000 })), false);
    assert.deepEqual((await store.read(allStatus)).map((status) => [status.account, status.state]), [['slack', 'connecting'], ['telegram', 'stopped']]);
  });

  test('the last sign of a gateway is what it wrote for itself or for an account that it holds', async () => {
    const { store, pass } = await open();
    const host = hostname();
    const sign = () => store.read((db) => lastSignOf(db, { host, pid: 1 }));
    await store.write(async (tx) => {
      await registerNode(tx, { id: 'one', kind: 'gateway', pid: 1 });
      await registerNode(tx, { id: 'other', kind: 'gateway', pid: 2 });
      await leaseAccount(tx, { account: 'telegram', owner: 'one', leaseMs: 60_000 });
      await leaseAccount(tx, { account: 'slack', owner: 'other', leaseMs: 60_000 });
    });
    await store.write((tx) => tx.q.updateTable('nodes').set((eb) => ({ seen_at: eb('seen_at', '-', 500_000) })).execute());
    await store.write((tx) => tx.q.updateTable('accounts').set((eb) => ({ updated_at: eb('updated_at', '-', 200_000) })).where('account', '=', 'telegram').execute());
    const quiet = await sign();
    assert.deepEqual(quiet?.accounts, ['telegram']);
    assert.ok(quiet.agoMs >= 200_000 && quiet.agoMs < 300_000, `${quiet.agoMs}`);
    await pass(2);
    const status = (await store.read(allStatus)).find(({ account }) => account === 'telegram');
    assert.ok(status !== undefined);
    await store.write((tx) => saveStatus(tx, status));
    assert.ok(((await sign())?.agoMs ?? Infinity) < 100_000);
    assert.equal(await store.read((db) => lastSignOf(db, { host, pid: 3 })), undefined);
    assert.equal(await store.read((db) => lastSignOf(db, { host: 'elsewhere', pid: 1 })), undefined);
  });
});
