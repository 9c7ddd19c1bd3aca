import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboundEvent } from '../../core/message.ts';
import { sampleEvent } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import {
  addDecisions,
  closeItem,
  closeTurnItems,
  countWaiting,
  findControlItem,
  findMessage,
  inboxCounts,
  insertInboxItem,
  isKnownEvent,
  joinTurn,
  oldestOpenMs,
  openControlItems,
  replaceWaitingText,
  setTranscriptRow,
  turnItems,
  waitingItems,
  withdrawWaiting,
} from './inbox.ts';
import type { InboxClass } from '../schema/conversation-rows.ts';
import type { Store } from '../store.ts';

const lane = 'turn:s1';
const place = { lane, sessionId: 's1', sessionKey: 'k1' };

const insert = (store: Store, event: InboundEvent, itemClass: InboxClass = 'chat'): Promise<number | undefined> =>
  store.write((tx) => insertInboxItem(tx, { event, class: itemClass, decisions: [{ step: 'access', verdict: 'allowed' }], place }));

const inserted = async (store: Store, event = sampleEvent(), itemClass: InboxClass = 'chat'): Promise<number> => {
  const id = await insert(store, event, itemClass);
  assert.ok(id !== undefined);
  return id;
};

const waitingTexts = async (store: Store): Promise<string[]> => (await store.read((db) => waitingItems(db, lane, 100))).map((item) => item.event.text);

eachStore((_engine, open) => {
  test('what is stored comes back as it was', async () => {
    const { store } = await open();
    const event = sampleEvent({ text: 'héllo 你好 😀 \0 "quoted"', media: [{ kind: 'photo', mime: 'image/png', ref: { file: 'f', size: 3 } }], replyTo: { messageId: '9', isOwn: true } });
    const id = await inserted(store, event);
    assert.deepEqual(await store.read((db) => waitingItems(db, lane, 10)), [{ id, event, messageId: null, sessionId: 's1', sessionKey: 'k1' }]);
  });

  test('a redelivery is dropped, and so is one of something that was skipped', async () => {
    const { store } = await open();
    const event = sampleEvent();
    assert.ok((await insert(store, event)) !== undefined);
    assert.equal(await insert(store, { ...event, text: 'changed on the way' }), undefined);
    const skipped = sampleEvent();
    await store.write((tx) => insertInboxItem(tx, { event: skipped, class: 'chat', decisions: [], skipped: 'not addressed' }));
    assert.equal(await insert(store, skipped), undefined);
    assert.equal(await store.read((db) => countWaiting(db, lane)), 1);
    const known = { account: event.account, chatId: event.chat.id, nativeId: event.nativeId, kind: event.kind };
    assert.equal(await store.read((db) => isKnownEvent(db, known)), true);
    assert.equal(await store.read((db) => isKnownEvent(db, { ...known, nativeId: 'other' })), false);
  });

  test('of processes that store the same event at the same moment exactly one succeeds', async () => {
    const { store, another } = await open();
    const stores = [store, await another(), await another()];
    const event = sampleEvent();
    const ids = await Promise.all(Array.from({ length: 15 }, (_, i) => insert(stores[i % 3] ?? store, event)));
    assert.equal(ids.filter((id) => id !== undefined).length, 1);
    assert.deepEqual(await waitingTexts(store), [event.text]);
  });

  test('the same native id in another chat, account or kind is another event', async () => {
    const { store } = await open();
    const event = sampleEvent();
    const variants = [event, { ...event, chat: { ...event.chat, id: 'chat-2' } }, { ...event, account: 'telegram@work' }, { ...event, kind: 'edit' as const }];
    for (const variant of variants) await inserted(store, variant);
    assert.equal(await store.read((db) => countWaiting(db, lane)), 4);
  });

  test('a rolled back insert does not count as delivered', async () => {
    const { store } = await open();
    const event = sampleEvent();
    await assert.rejects(
      store.write(async (tx) => {
        await insertInboxItem(tx, { event, class: 'chat', decisions: [], place });
        throw new Error('later in the same transaction');
      }),
    );
    await inserted(store, event);
  });

  test('what waits in a lane comes oldest first, without commands and other lanes', async () => {
    const { store } = await open();
    for (const text of ['1', '2', '3']) await inserted(store, sampleEvent({ text }));
    await inserted(store, sampleEvent({ text: '/stop' }), 'control');
    await store.write((tx) => insertInboxItem(tx, { event: sampleEvent(), class: 'chat', decisions: [], place: { ...place, lane: 'turn:s2' } }));
    assert.deepEqual(await waitingTexts(store), ['1', '2', '3']);
    assert.equal((await store.read((db) => waitingItems(db, lane, 2))).length, 2);
    const control = await store.read((db) => openControlItems(db, 10));
    assert.deepEqual(control.map((item) => item.event.text), ['/stop']);
  });

  test('items of a turn wait no longer, and end with it', async () => {
    const { store } = await open();
    const first = await inserted(store);
    const second = await inserted(store);
    const third = await inserted(store);
    await store.write(async (tx) => {
      await joinTurn(tx, [], 7);
      await joinTurn(tx, [first, second], 7);
      await setTranscriptRow(tx, second, 99);
    });
    const items = await store.read((db) => turnItems(db, 7));
    assert.deepEqual(items.map((item) => [item.id, item.messageId]), [[first, null], [second, 99]]);
    assert.equal(await store.read((db) => countWaiting(db, lane)), 1);
    assert.deepEqual(await store.read(inboxCounts), { waiting: 1, running: 2 });
    await store.write((tx) => closeTurnItems(tx, 7, { state: 'done', reason: 'completed' }));
    assert.deepEqual(await store.read((db) => turnItems(db, 7)), []);
    assert.deepEqual(await store.read(inboxCounts), { waiting: 1 });
    await store.write((tx) => joinTurn(tx, [third], 8));
    await store.write((tx) => closeTurnItems(tx, 8, { state: 'set_aside', reason: 'crashed' }));
    assert.deepEqual(await store.read(inboxCounts), { set_aside: 1 });
  });

  test('a command is carried out once, whoever comes second', async () => {
    const { store, another } = await open();
    const id = await inserted(store, sampleEvent(), 'control');
    assert.equal((await store.read((db) => findControlItem(db, id)))?.id, id);
    const other = await another();
    const closed = await Promise.all([store, other].map((one) => one.write((tx) => closeItem(tx, id, 'done'))));
    assert.deepEqual(closed.toSorted(), [false, true]);
    assert.equal(await store.read((db) => findControlItem(db, id)), undefined);
  });

  test('withdrawn messages are answered in order and wait no longer', async () => {
    const { store } = await open();
    for (const text of ['1', '2', '3']) await inserted(store, sampleEvent({ text }));
    const withdrawn = await store.write((tx) => withdrawWaiting(tx, lane, 'new conversation'));
    assert.deepEqual(withdrawn.map((item) => item.event.text), ['1', '2', '3']);
    assert.deepEqual(await waitingTexts(store), []);
    assert.deepEqual(await store.write((tx) => withdrawWaiting(tx, lane, 'again')), []);
  });

  test('an edit reaches a message while it waits and not after', async () => {
    const { store } = await open();
    const event = sampleEvent({ text: 'tpyo' });
    const id = await inserted(store, event);
    const address = { account: event.account, chatId: event.chat.id, nativeId: event.nativeId };
    const found = await store.read((db) => findMessage(db, address));
    assert.ok(found !== undefined && found.id === id);
    assert.equal(await store.write((tx) => replaceWaitingText(tx, found, 'typo')), true);
    assert.deepEqual(await waitingTexts(store), ['typo']);
    await store.write((tx) => joinTurn(tx, [id], 1));
    assert.equal(await store.write((tx) => replaceWaitingText(tx, found, 'late')), false);
    assert.equal((await store.read((db) => findMessage(db, address)))?.event.text, 'typo');
  });

  test('the age of the oldest open message is known', async () => {
    const { store, clock, pass } = await open();
    assert.equal(await store.read(oldestOpenMs), undefined);
    const id = await inserted(store);
    await pass(50);
    const secondAtMs = clock.now();
    await inserted(store);
    assert.ok(((await store.read(oldestOpenMs)) ?? 0) >= 45);
    await store.write((tx) => closeItem(tx, id, 'done'));
    assert.ok(((await store.read(oldestOpenMs)) ?? Infinity) <= clock.now() - secondAtMs + 2);
  });

  test('what is decided later stands behind what was decided before', async () => {
    const { store } = await open();
    const ids = [await inserted(store), await inserted(store)];
    await store.write((tx) => addDecisions(tx, [...ids, 999_999], [{ step: 'hook guard', verdict: 'passed' }]));
    const rows = await store.read((db) => db.q.selectFrom('inbox').select('decisions').execute());
    const expected = [{ step: 'access', verdict: 'allowed' }, { step: 'hook guard', verdict: 'passed' }];
    assert.deepEqual(rows.map((row) => JSON.parse(row.decisions) as unknown), [expected, expected]);
  });
});
