import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { addApiSpend, apiSpend, createApiKey, findApiKey, listApiKeys, noteApiKeyUse, revokeApiKey, rotateApiKey } from './api-keys.ts';
import { findReplay, keepReplay } from './api-replays.ts';

const laptop = { id: 'k1', name: 'laptop', scopes: ['chat'], limits: { perMinute: 3 }, hash: 'h1', hint: 'hk_1' } as const;

eachStore((engine, open) => {
  test('a key is found by the hash of its credential, and only by the newest one', async () => {
    const { store } = await open();
    assert.equal(await store.write((tx) => createApiKey(tx, laptop)), true);
    assert.equal(await store.write((tx) => createApiKey(tx, { ...laptop, id: 'k2', hash: 'h2' })), false);
    const found = await store.read((db) => findApiKey(db, 'h1'));
    assert.deepEqual([found?.id, found?.scopes, found?.limits, found?.usedAtMs], ['k1', ['chat'], { perMinute: 3 }, null]);
    assert.equal(await store.write((tx) => rotateApiKey(tx, 'laptop', { hash: 'h3', hint: 'hk_3' })), true);
    assert.equal(await store.read((db) => findApiKey(db, 'h1')), undefined);
    assert.equal((await store.read((db) => findApiKey(db, 'h3')))?.id, 'k1');
    assert.equal(await store.write((tx) => revokeApiKey(tx, 'laptop')), true);
    assert.equal(await store.write((tx) => revokeApiKey(tx, 'laptop')), false);
    assert.equal(await store.read((db) => findApiKey(db, 'h3')), undefined);
  });

  test('the use of a key is noted', async () => {
    const { store } = await open();
    await store.write((tx) => createApiKey(tx, laptop));
    await store.write((tx) => noteApiKeyUse(tx, 'k1'));
    const [key] = await store.read(listApiKeys);
    assert.ok((key?.usedAtMs ?? 0) > 0);
  });

  test('what a key spends adds up by the day', async () => {
    const { store } = await open();
    for (const usd of [0.5, 0.25]) await store.write((tx) => addApiSpend(tx, { keyId: 'k1', day: '2026-01-01', usd }));
    assert.equal(await store.read((db) => apiSpend(db, { keyId: 'k1', day: '2026-01-01' })), 0.75);
    assert.equal(await store.read((db) => apiSpend(db, { keyId: 'k1', day: '2026-01-02' })), 0);
  });

  test('an answer is found again by its key and name; the first one stays', async () => {
    const { store } = await open();
    const of = { keyId: 'k1', name: 'n' };
    await store.write((tx) => keepReplay(tx, of, { fingerprint: 'f', answer: 'a' }));
    await store.write((tx) => keepReplay(tx, of, { fingerprint: 'g', answer: 'b' }));
    assert.deepEqual(await store.read((db) => findReplay(db, of)), { fingerprint: 'f', answer: 'a' });
    assert.equal(await store.read((db) => findReplay(db, { ...of, keyId: 'k2' })), undefined);
  });

  test('an answer is forgotten after a day', { skip: engine === 'postgres' ? 'time cannot be hurried there' : false }, async () => {
    const { store, pass } = await open();
    const of = { keyId: 'k1', name: 'n' };
    await store.write((tx) => keepReplay(tx, of, { fingerprint: 'f', answer: 'a' }));
    await pass(24 * 3_600_000 + 1);
    assert.equal(await store.read((db) => findReplay(db, of)), undefined);
    await store.write((tx) => keepReplay(tx, of, { fingerprint: 'g', answer: 'b' }));
    assert.deepEqual(await store.read((db) => findReplay(db, of)), { fingerprint: 'g', answer: 'b' });
  });
});
