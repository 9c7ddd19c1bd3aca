import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { manualClock } from '../../lib/clock.ts';
import { defaultRetention } from '../retention/retention-limits.ts';
import { prune } from '../retention/retention.ts';
import { findAcpSession, keepAcpSession } from './acp-sessions.ts';

eachStore((_engine, open) => {
  const session = { maker: 'm', acpId: 'a1', seen: 'x', turnId: '1' };

  test('the session of another program is kept once per conversation, the newest wins, and it survives the process', async () => {
    const { store, another } = await open();
    await store.write((tx) => keepAcpSession(tx, 's1', session));
    await store.write((tx) => keepAcpSession(tx, 's2', session));
    const second = { maker: 'n', acpId: 'a2', seen: 'y', turnId: '2' };
    await store.write((tx) => keepAcpSession(tx, 's1', second));
    const later = await another();
    assert.deepEqual(await later.read((db) => findAcpSession(db, 's1')), second);
    assert.deepEqual(await later.read((db) => findAcpSession(db, 's2')), session);
    assert.equal(await later.read((db) => findAcpSession(db, 's3')), undefined);
  });

  test('one that nobody has needed for long is forgotten', async () => {
    const { store, pass } = await open();
    await store.write((tx) => keepAcpSession(tx, 's1', session));
    await pass(50);
    const within = { clock: manualClock(), signal: new AbortController().signal };
    assert.equal((await prune(store, defaultRetention, within)).deleted['acp_sessions'], 0);
    assert.equal((await prune(store, { ...defaultRetention, turnDays: 0 }, within)).deleted['acp_sessions'], 1);
    assert.equal(await store.read((db) => findAcpSession(db, 's1')), undefined);
  });
});
