import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import type { Store } from '../store.ts';
import { closedGates, closeGate, deadTargets, markAlive, markDead } from './gates.ts';

const close = (store: Store, scope: string, forMs: number, reason = 'rate_limited'): Promise<void> => store.write((tx) => closeGate(tx, { scope, forMs, reason }));

eachStore((_engine, open) => {
  test('a gate is closed until its time, also for the next process', async () => {
    const opened = await open();
    const { store, another } = opened;
    await close(store, 'account:telegram', 600_000);
    await close(store, 'chat:telegram:1', 60_000);
    const gates = await (await another()).read(closedGates);
    assert.deepEqual(gates.map((gate) => gate.scope).toSorted(), ['account:telegram', 'chat:telegram:1']);
    const longer = gates.find((gate) => gate.scope === 'account:telegram')?.leftMs ?? 0;
    assert.ok(longer > 500_000 && longer <= 600_000);
    await elapse(opened, 60_000, 'gates');
    assert.deepEqual((await store.read(closedGates)).map((gate) => gate.scope), ['account:telegram']);
  });

  test('the later end wins, with its reason, in whichever order they come', async () => {
    const { store } = await open();
    await close(store, 's', 60_000, 'longer');
    await close(store, 's', 10, 'shorter');
    await close(store, 't', 10, 'shorter');
    await close(store, 't', 60_000, 'longer');
    const rows = await store.read((db) => db.q.selectFrom('gates').selectAll().execute());
    assert.deepEqual(rows.map((row) => row.reason), ['longer', 'longer']);
    for (const { leftMs } of await store.read(closedGates)) assert.ok(leftMs > 50_000);
  });

  test('a dead chat is remembered with its first reason until something succeeds there', async () => {
    const { store } = await open();
    await store.write((tx) => markDead(tx, { account: 'telegram', chatId: '1', reason: 'blocked' }));
    await store.write((tx) => markDead(tx, { account: 'telegram', chatId: '1', reason: 'again' }));
    await store.write((tx) => markDead(tx, { account: 'slack', chatId: '1', reason: 'gone' }));
    assert.deepEqual((await store.read(deadTargets)).map((target) => target.reason).toSorted(), ['blocked', 'gone']);
    await store.write((tx) => markAlive(tx, 'telegram', '1'));
    assert.deepEqual((await store.read(deadTargets)).map((target) => target.account), ['slack']);
  });
});
