import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import type { Store } from '../store.ts';
import { allStatus, countDenial, forgetAccounts, leaseAccount, listDenials, readCursor, releaseAccount, saveStatus, writeCursor } from './accounts.ts';
import type { AccountStatus } from './accounts.ts';

const lease = (store: Store, owner: string): Promise<boolean> => store.write((tx) => leaseAccount(tx, { account: 'telegram', owner, leaseMs: 60_000 }));

const status: AccountStatus = {
  account: 'telegram',
  state: 'connected',
  identity: '42',
  name: 'bot',
  errorCode: null,
  error: null,
  attempts: 0,
  connectedAtMs: 1,
  lastEventAtMs: 2,
  lastAliveAtMs: 3,
  lastCallAtMs: null,
  nextTryAtMs: null,
};

eachStore((_engine, open) => {
  test('a connection has one holder until it goes silent or lets go', async () => {
    const opened = await open();
    const { store } = opened;
    const other = await opened.another();
    assert.equal(await lease(store, 'a'), true);
    assert.equal(await lease(other, 'b'), false);
    assert.equal(await lease(store, 'a'), true);
    await elapse(opened, 60_001, 'accounts');
    assert.equal(await lease(other, 'b'), true);
    assert.equal(await lease(store, 'a'), false);
    await store.write((tx) => releaseAccount(tx, 'telegram', 'a'));
    assert.equal(await lease(store, 'a'), false);
    await other.write((tx) => releaseAccount(tx, 'telegram', 'b'));
    assert.equal(await lease(store, 'a'), true);
  });

  test('of processes that want a connection at the same moment exactly one gets it', async () => {
    const { store, another } = await open();
    const stores = [store, await another(), await another()];
    const got = await Promise.all(Array.from({ length: 12 }, (_, i) => lease(stores[i % 3] ?? store, `owner-${i}`)));
    assert.equal(got.filter(Boolean).length, 1);
  });

  test('status comes back as it was saved and does not touch the lease', async () => {
    const { store } = await open();
    await lease(store, 'a');
    await store.write((tx) => saveStatus(tx, status));
    await store.write((tx) => saveStatus(tx, { ...status, account: 'slack', state: 'refused', errorCode: 'bad_credential', error: 'no' }));
    const all = await store.read(allStatus);
    assert.deepEqual(all.map((one) => one.account), ['slack', 'telegram']);
    assert.deepEqual(all[1], status);
    assert.equal(await lease(store, 'b'), false);
    await store.write((tx) => forgetAccounts(tx, ['telegram']));
    assert.deepEqual((await store.read(allStatus)).map((one) => one.account), ['telegram']);
    await store.write((tx) => forgetAccounts(tx, []));
    assert.deepEqual(await store.read(allStatus), []);
  });

  test('a cursor belongs to an account, an identity and a name', async () => {
    const { store } = await open();
    const at = { account: 'telegram', identity: 'bot-1', name: 'offset' };
    assert.equal(await store.read((db) => readCursor(db, at)), undefined);
    await store.write((tx) => writeCursor(tx, at, '10'));
    await store.write((tx) => writeCursor(tx, at, '11'));
    for (const other of [{ ...at, identity: 'bot-2' }, { ...at, account: 'telegram@work' }, { ...at, name: 'pts' }]) {
      assert.equal(await store.read((db) => readCursor(db, other)), undefined);
      await store.write((tx) => writeCursor(tx, other, 'other'));
    }
    assert.equal(await store.read((db) => readCursor(db, at)), '11');
  });

  test('denials are counted per person, place, kind and reason, and listed newest first', async () => {
    const { store, another, pass } = await open();
    const denial = { account: 'telegram', userId: 'u1', chatId: 'c1', kind: 'message', reason: 'not allowed' };
    const stores = [store, await another()];
    await Promise.all(Array.from({ length: 20 }, (_, i) => (stores[i % 2] ?? store).write((tx) => countDenial(tx, denial))));
    await pass(3);
    await store.write((tx) => countDenial(tx, { ...denial, userId: 'u2' }));
    const denials = await store.read((db) => listDenials(db, 10));
    assert.deepEqual(denials.map((row) => [row.userId, row.count]), [['u2', 1], ['u1', 20]]);
    assert.equal((await store.read((db) => listDenials(db, 1))).length, 1);
  });
});
