import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { accountWish, wishForAccount } from './account-wishes.ts';

eachStore((_engine, open) => {
  test('an account is paused until it is to go on, each restart counts, and whoever listens is told once it is durable', async () => {
    const { store, another } = await open();
    const told: string[] = [];
    using _listening = store.listen('account', (account) => void told.push(account));
    const wish = (want: 'pause' | 'resume' | 'restart') => store.write((tx) => wishForAccount(tx, { account: 'telegram', want, by: '7' }));
    const read = async () => (await another()).read((db) => accountWish(db, 'telegram'));
    assert.deepEqual(await read(), { paused: false, restarts: 0 });
    await wish('pause');
    assert.deepEqual(await read(), { paused: true, restarts: 0 });
    await wish('resume');
    assert.deepEqual(await read(), { paused: false, restarts: 0 });
    await wish('restart');
    await wish('pause');
    await wish('restart');
    assert.deepEqual(await read(), { paused: false, restarts: 2 }, 'a restart ends a pause');
    assert.deepEqual(await store.read((db) => accountWish(db, 'web')), { paused: false, restarts: 0 });
    assert.deepEqual(told, ['telegram', 'telegram', 'telegram', 'telegram', 'telegram']);
  });
});
