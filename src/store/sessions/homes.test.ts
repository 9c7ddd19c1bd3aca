import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { findHome, removeHome, setHome } from './homes.ts';

eachStore((_engine, open) => {
  test('an account has one home, the one that was chosen last, until it is removed', async () => {
    const { store } = await open();
    assert.equal(await store.read((db) => findHome(db, 'telegram')), undefined);
    await store.write((tx) => setHome(tx, { account: 'telegram', target: sampleTarget({ chatId: '1' }), name: null, setBy: '7' }));
    const home = { account: 'telegram', target: sampleTarget({ chatId: '2', threadId: '5' }), name: 'Team' };
    await store.write((tx) => setHome(tx, { ...home, setBy: '8' }));
    assert.deepEqual(await store.read((db) => findHome(db, 'telegram')), home);
    assert.equal(await store.read((db) => findHome(db, 'telegram@work')), undefined);
    assert.deepEqual([await store.write((tx) => removeHome(tx, 'telegram')), await store.write((tx) => removeHome(tx, 'telegram'))], [true, false]);
    assert.equal(await store.read((db) => findHome(db, 'telegram')), undefined);
  });
});
