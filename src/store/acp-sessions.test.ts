import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { findAcpSession, keepAcpSession } from './acp-sessions.ts';

eachStore((_engine, open) => {
  test('the session of another program is kept once per conversation, the newest wins, and it survives the process', async () => {
    const { store, another } = await open();
    const first = { maker: 'm', acpId: 'a1', seen: 'x', turnId: '1' };
    await store.write((tx) => keepAcpSession(tx, 's1', first));
    await store.write((tx) => keepAcpSession(tx, 's2', first));
    const second = { maker: 'n', acpId: 'a2', seen: 'y', turnId: '2' };
    await store.write((tx) => keepAcpSession(tx, 's1', second));
    const later = await another();
    assert.deepEqual(await later.read((db) => findAcpSession(db, 's1')), second);
    assert.deepEqual(await later.read((db) => findAcpSession(db, 's2')), first);
    assert.equal(await later.read((db) => findAcpSession(db, 's3')), undefined);
  });
});
