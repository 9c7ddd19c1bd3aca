import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDelivery, sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { elapse } from '../elapse.test-support.ts';
import { outLane, readyLanes } from '../lanes/lanes.ts';
import type { Store } from '../store.ts';
import { enqueueDelivery, failedDeliveries, hasOpenDeliveries, headOfLane, markSending, outboxCounts, settleDelivery } from './outbox.ts';
import type { Delivery, OutboxItem, Settlement } from './outbox.ts';

const lane = outLane('telegram', 'chat-1');

const enqueue = (store: Store, ...deliveries: readonly Delivery[]): Promise<void> =>
  store.write(async (tx) => {
    for (const delivery of deliveries) await enqueueDelivery(tx, delivery, { turnId: 1 });
  });

const head = async (store: Store): Promise<OutboxItem> => {
  const item = await store.read((db) => headOfLane(db, lane));
  assert.ok(item !== undefined);
  return item;
};

const settle = async (store: Store, settlement: Settlement): Promise<void> => {
  const { id } = await head(store);
  await store.write(async (tx) => {
    await markSending(tx, id);
    await settleDelivery(tx, id, settlement);
  });
};

eachStore((_engine, open) => {
  test('the same key again is the same delivery', async () => {
    const { store, another } = await open();
    const delivery = sampleDelivery({ text: 'first' });
    await enqueue(store, delivery);
    await enqueue(store, { message: { ...delivery.message, text: 'second' } });
    const other = await another();
    await Promise.all([store, other, store, other].map((one) => enqueue(one, delivery)));
    assert.deepEqual((await head(store)).delivery, delivery);
    await settle(store, { state: 'sent', log: [], messageIds: ['9'] });
    await enqueue(store, delivery);
    assert.equal(await store.read((db) => headOfLane(db, lane)), undefined);
    assert.equal(await store.read((db) => hasOpenDeliveries(db, lane)), false);
  });

  test('deliveries leave a chat in the order in which they were made, and each chat by itself', async () => {
    const { store } = await open();
    const elsewhere = sampleDelivery({ target: sampleTarget({ chatId: 'chat-2' }), text: 'elsewhere' });
    await enqueue(store, sampleDelivery({ text: '1' }), elsewhere, sampleDelivery({ text: '2' }));
    await enqueue(store, sampleDelivery({ text: '3' }));
    const sent: string[] = [];
    for (let item = await store.read((db) => headOfLane(db, lane)); item !== undefined; item = await store.read((db) => headOfLane(db, lane))) {
      sent.push(item.delivery.message.text);
      await settle(store, { state: 'sent', log: [] });
    }
    assert.deepEqual(sent, ['1', '2', '3']);
    const ready = await store.read((db) => readyLanes(db, 'out', 10));
    assert.deepEqual(ready.map((row) => row.lane).toSorted(), [lane, outLane('telegram', 'chat-2')]);
  });

  test('what one transaction enqueues for a chat is not torn apart by another', async () => {
    const { store, another } = await open();
    const stores = [store, await another()];
    const batch = (name: string): Delivery[] => ['a', 'b', 'c', 'd'].map((part) => sampleDelivery({ text: `${name}${part}` }));
    await Promise.all(Array.from({ length: 12 }, (_, i) => enqueue(stores[i % 2] ?? store, ...batch(String.fromCharCode(65 + i)))));
    const rows = await store.read((db) => db.q.selectFrom('outbox').select('payload').orderBy('id').execute());
    const texts = rows.map((row) => (JSON.parse(row.payload) as Delivery).message.text);
    for (let i = 0; i < texts.length; i += 4) assert.deepEqual(texts.slice(i, i + 4), ['a', 'b', 'c', 'd'].map((part) => `${texts[i]?.[0]}${part}`));
  });

  test('an open outcome keeps its place at the head', async () => {
    const opened = await open();
    const { store } = opened;
    await enqueue(store, sampleDelivery({ text: '1' }), sampleDelivery({ text: '2' }));
    const { id } = await head(store);
    await store.write((tx) => markSending(tx, id));
    assert.deepEqual([(await head(store)).id, (await head(store)).state, (await head(store)).attempts], [id, 'sending', 1]);
    await store.write((tx) => settleDelivery(tx, id, { state: 'unknown', log: [{ atMs: 1, outcome: 'unknown_outcome' }], repeated: true, delayMs: 60_000.5 }));
    const unknown = await head(store);
    assert.deepEqual([unknown.id, unknown.state, unknown.repeated], [id, 'unknown', true]);
    assert.ok(unknown.waitMs > 0 && unknown.waitMs <= 60_001);
    await elapse(opened, 60_001, 'outbox');
    assert.ok((await head(store)).waitMs <= 0);
    assert.deepEqual(unknown.log, [{ atMs: 1, outcome: 'unknown_outcome' }]);
    await settle(store, { state: 'failed', log: unknown.log, error: 'gone' });
    assert.equal((await head(store)).delivery.message.text, '2');
  });

  test('waiting for a rate limit takes the attempt back; a changed delivery and the ids of its parts are kept', async () => {
    const { store } = await open();
    const delivery = sampleDelivery({ text: 'too long' });
    await enqueue(store, delivery);
    await settle(store, { state: 'pending', log: [], uncounted: true });
    assert.equal((await head(store)).attempts, 0);
    assert.deepEqual((await head(store)).messageIds, []);
    const rest: Delivery = { message: { ...delivery.message, text: 'long' }, rest: ['er'] };
    await settle(store, { state: 'pending', log: [], delivery: rest, messageIds: ['m1', 'm2'] });
    const item = await head(store);
    assert.deepEqual([item.attempts, item.delivery, item.messageIds], [1, rest, ['m1', 'm2']]);
  });

  test('the log of attempts is bounded and keeps the newest', async () => {
    const { store } = await open();
    await enqueue(store, sampleDelivery());
    const log = Array.from({ length: 50 }, (_, i) => ({ atMs: i, outcome: 'unavailable' }));
    await settle(store, { state: 'pending', log });
    assert.deepEqual((await head(store)).log, log.slice(-20));
  });

  test('failed deliveries are counted and listed, newest first', async () => {
    const { store, pass } = await open();
    await enqueue(store, sampleDelivery(), sampleDelivery(), sampleDelivery(), sampleDelivery());
    await settle(store, { state: 'failed', log: [], error: 'older' });
    await pass(3);
    await settle(store, { state: 'failed', log: [], error: 'newer' });
    await settle(store, { state: 'sent', log: [] });
    assert.deepEqual(await store.read(outboxCounts), { pending: 1, failed: 2 });
    const failed = await store.read((db) => failedDeliveries(db, 10));
    assert.deepEqual(failed.map((row) => [row.error, row.attempts, row.chatId]), [['newer', 1, 'chat-1'], ['older', 1, 'chat-1']]);
    assert.equal((await store.read((db) => failedDeliveries(db, 1))).length, 1);
  });

  test('a rolled back transaction sends nothing', async () => {
    const { store } = await open();
    await assert.rejects(
      store.write(async (tx) => {
        await enqueueDelivery(tx, sampleDelivery(), {});
        throw new Error('no');
      }),
    );
    assert.equal(await store.read((db) => headOfLane(db, lane)), undefined);
    assert.deepEqual(await store.read((db) => readyLanes(db, 'out', 10)), []);
  });
});
