import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { eachStore, emptyPostgres } from '../../test/support/stores.ts';
import { StoreError } from '../core/errors.ts';
import { startTurn } from './sessions/turns.ts';
import { readBacklog } from './messages/backlog.ts';
import { inspectStore } from './inspect.ts';
import { enqueueDelivery } from './messages/outbox.ts';

const wholeBytes = 1024 * 1024;
const target = { account: 'telegram', chatId: '7', chatType: 'dm' } as const;

eachStore((engine, open) => {
  test('looks at a database while somebody else writes to it, and cannot change it', async () => {
    const { store, location, clock, pass } = await open();
    await store.write(async (tx) => {
      await enqueueDelivery(tx, { message: { key: 'k', target, text: 'x' } }, {});
      await startTurn(tx, { sessionId: 's', lane: 'turn:s', target });
    });
    await pass(50);
    await using seen = await inspectStore({ ...location, clock, wholeBytes });
    assert.ok(seen !== undefined);
    assert.equal(seen.version, seen.expected);
    assert.equal(seen.damage(), undefined);
    const backlog = await seen.read(readBacklog);
    assert.deepEqual([backlog.runningTurns, backlog.openDeliveries, backlog.failedToday, backlog.setAside, backlog.aheadMs], [1, 1, 0, 0, 0]);
    assert.ok(backlog.longestTurnMs >= 50 && backlog.oldestDeliveryMs >= 50);
    if (engine === 'sqlite') await assert.rejects(seen.read((db) => db.q.deleteFrom('outbox').execute()), StoreError);
    await store.write((tx) => tx.q.updateTable('outbox').set({ state: 'failed' }).execute());
    assert.equal((await seen.read(readBacklog)).failedToday, 1);
  });

  test('leaves nothing beside a database that nobody has open', async () => {
    const { store, location, clock } = await open();
    if (engine !== 'sqlite') return;
    await store.close();
    const before = await readdir(dirname(location.path));
    {
      await using seen = await inspectStore({ ...location, clock, wholeBytes });
      assert.deepEqual(await seen?.read(readBacklog).then(({ openDeliveries }) => openDeliveries), 0);
    }
    assert.deepEqual(await readdir(dirname(location.path)), before);
    assert.equal(await inspectStore({ path: join(dirname(location.path), 'none.db'), clock, wholeBytes }), undefined);
  });

  test('makes no table in a database that has none', async () => {
    if (engine !== 'postgres') return;
    const { clock } = await open();
    const database = await emptyPostgres();
    for (let i = 0; i < 2; i += 1) {
      await using seen = await inspectStore({ path: '', databaseUrl: database.url, clock, wholeBytes });
      assert.equal(seen?.version, 0);
    }
  });
});
