import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sampleDelivery } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { outLane } from '../lanes/lanes.ts';
import type { Store } from '../store.ts';
import { enqueueDelivery, failedDeliveries, headOfLane, settleDelivery } from './outbox.ts';
import { markReturned } from './returned-delivery.ts';
import { traceMessage } from './trace.ts';

const sendOne = (store: Store, messageIds: readonly string[]): Promise<void> =>
  store.write(async (tx) => {
    await enqueueDelivery(tx, sampleDelivery(), {});
    const item = await headOfLane(tx, outLane('telegram', 'chat-1'));
    await settleDelivery(tx, item?.id ?? 0, { state: 'sent', log: [{ atMs: 1, outcome: 'sent' }], messageIds });
  });

const tell = (store: Store, messageId: string, account = 'telegram') => markReturned(store, { account, messageId, reason: 'no such user' });

eachStore((_engine, open) => {
  test('a message that came back has failed, with the reason, however often that is said', async () => {
    const { store } = await open();
    await sendOne(store, ['a@x', 'b@x']);
    await sendOne(store, ['c@x']);
    assert.deepEqual([await tell(store, 'b@x'), await tell(store, 'b@x')], [true, true]);
    const [message] = await store.read((db) => traceMessage(db, 'b@x'));
    const delivery = message?.deliveries[0];
    assert.deepEqual([delivery?.state, delivery?.error, delivery?.messageIds], ['failed', 'no such user', ['a@x', 'b@x']]);
    assert.deepEqual(delivery?.log.map(({ outcome, detail }) => [outcome, detail]), [['sent', undefined], ['returned', 'no such user']]);
    assert.equal((await store.read((db) => failedDeliveries(db, 5))).length, 1);
  });

  test('it is found behind many others, and looked for while others write', async () => {
    const { store } = await open();
    await sendOne(store, ['first@x']);
    await store.write((tx) =>
      sql`
        insert into outbox (key, lane, account, chat_id, target, payload, state, message_ids, created_at, updated_at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
        select 'many:' || i, 'out:telegram:c', 'telegram', 'c', '{}', '{}', 'sent', '["' || i || '@x"]', ${tx.now}, ${tx.now} from n`.execute(tx.q),
    );
    const looked = Promise.withResolvers<void>();
    const writing = store.write(() => looked.promise);
    assert.equal(await tell(store, 'nobody@x'), false);
    looked.resolve();
    await writing;
    assert.equal(await tell(store, 'first@x'), true);
    assert.equal((await store.read((db) => failedDeliveries(db, 5))).length, 1);
  });

  test('what is not ours, or of another account, or only similar, changes nothing', async () => {
    const { store } = await open();
    await sendOne(store, ['abc@x']);
    assert.deepEqual([await tell(store, 'bc@x'), await tell(store, 'abc@x', 'email'), await tell(store, '%')], [false, false, false]);
    assert.equal((await store.read((db) => failedDeliveries(db, 5))).length, 0);
  });
});
