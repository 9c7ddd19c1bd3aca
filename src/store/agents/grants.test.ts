import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { grantPatterns, grantsOf, revokeGrants } from './grants.ts';

eachStore((_engine, open) => {
  test('what is granted belongs to one conversation, is kept once and survives the process', async () => {
    const { store, another } = await open();
    await store.write((tx) => grantPatterns(tx, 's1', [{ pattern: 'rm -r', grantedBy: 'ada' }, { pattern: 'git clean', grantedBy: 'ada' }]));
    await store.write((tx) => grantPatterns(tx, 's1', [{ pattern: 'rm -r', grantedBy: 'bob' }]));
    const later = await another();
    assert.deepEqual(await later.read((db) => grantsOf(db, 's1')), [{ pattern: 'git clean', grantedBy: 'ada' }, { pattern: 'rm -r', grantedBy: 'ada' }]);
    assert.deepEqual(await later.read((db) => grantsOf(db, 's2')), []);
  });

  test('grants are taken back one by one or all at once', async () => {
    const { store } = await open();
    await store.write((tx) => grantPatterns(tx, 's1', ['a', 'b', 'c'].map((pattern) => ({ pattern, grantedBy: 'ada' }))));
    await store.write((tx) => grantPatterns(tx, 's2', [{ pattern: 'a', grantedBy: 'ada' }]));
    assert.equal(await store.write((tx) => revokeGrants(tx, 's1', ['b', 'x'])), 1);
    assert.deepEqual((await store.read((db) => grantsOf(db, 's1'))).map((grant) => grant.pattern), ['a', 'c']);
    assert.equal(await store.write((tx) => revokeGrants(tx, 's1')), 2);
    assert.equal((await store.read((db) => grantsOf(db, 's2'))).length, 1);
  });
});
