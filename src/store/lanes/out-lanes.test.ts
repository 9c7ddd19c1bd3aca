import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDelivery, sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import { enqueueDelivery, headOfLane, settleDelivery } from '../messages/outbox.ts';
import type { Store } from '../store.ts';
import { claimLane, outLane, releaseLane } from './lanes.ts';
import { accountOfLane, overdueOutLanes, readyOutLanes } from './out-lanes.ts';

const hour = 3_600_000;

const enqueueTo = (store: Store, account: string, chatId: string): Promise<void> => store.write((tx) => enqueueDelivery(tx, sampleDelivery({ target: sampleTarget({ account, chatId }) }), {}));

test('a lane names its account, whatever the platform calls its chats', () => {
  assert.deepEqual([outLane('telegram', '7'), outLane('matrix@work', '!room:example.org'), outLane('web', '')].map(accountOfLane), ['telegram', 'matrix@work', 'web']);
});

eachStore((_engine, open) => {
  test('of several accounts, only the chats of those that are asked for are ready, longest waiting first', async () => {
    const { store, pass } = await open();
    for (const [account, chat] of [['telegram', '2'], ['telegram@work', '3'], ['slack', '4'], ['telegram', '1']] as const) {
      await enqueueTo(store, account, chat);
      await pass(2);
    }
    const ready = async (accounts: readonly string[], limit = 10) => (await store.read((db) => readyOutLanes(db, accounts, limit))).map(({ lane }) => lane);
    assert.deepEqual(await ready(['telegram', 'slack']), ['out:telegram:2', 'out:slack:4', 'out:telegram:1']);
    assert.deepEqual(await ready(['telegram', 'slack'], 1), ['out:telegram:2']);
    assert.deepEqual(await ready([]), []);
    const claim = await store.write((tx) => claimLane(tx, { lane: 'out:telegram:2', owner: 'a', leaseMs: hour }));
    assert.deepEqual(await ready(['telegram']), ['out:telegram:1']);
    assert.ok(claim !== undefined);
    await store.write((tx) => releaseLane(tx, claim, { more: true, readyInMs: hour }));
    assert.deepEqual(await ready(['telegram']), ['out:telegram:1']);
  });

  test('a chat is overdue while something in it is too old and not settled', async () => {
    const opened = await open();
    const { store } = opened;
    const lane = outLane('telegram', 'old');
    const overdue = () => store.read((db) => overdueOutLanes(db, hour, 10));
    await enqueueTo(store, 'telegram', 'old');
    await enqueueTo(store, 'telegram', 'old');
    assert.deepEqual(await overdue(), []);
    await elapse(opened, 2 * hour, 'outbox');
    await enqueueTo(store, 'telegram', 'new');
    assert.deepEqual(await overdue(), [lane]);
    for (let left = 2; left > 0; left -= 1) {
      const head = await store.read((db) => headOfLane(db, lane));
      assert.ok(head !== undefined && head.ageMs >= 2 * hour && head.ageMs < 3 * hour);
      await store.write((tx) => settleDelivery(tx, head.id, { state: 'failed', log: [] }));
    }
    assert.deepEqual(await overdue(), []);
  });
});
