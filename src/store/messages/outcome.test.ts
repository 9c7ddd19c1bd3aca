import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDelivery, sampleEvent, sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { noUsage } from '../../core/transcript.ts';
import { contextSize } from '../sessions/context-size.ts';
import { closeItem, insertInboxItem, joinTurn } from './inbox.ts';
import { turnLane } from '../lanes/lanes.ts';
import { eventOutcome } from './outcome.ts';
import { enqueueDelivery, settleDelivery } from './outbox.ts';
import { createSession } from '../sessions/sessions.ts';
import type { Store } from '../store.ts';
import { appendMessage, deactivateFrom } from '../sessions/transcripts.ts';
import { finishTurn, startTurn } from '../sessions/turns.ts';

const place = { lane: turnLane('s1'), sessionId: 's1', sessionKey: 'agent:main:telegram:dm:chat-1' };

const arrive = async (store: Store, kind: 'chat' | 'control') => {
  const event = sampleEvent();
  const id = await store.write(async (tx) => {
    await createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm', userId: 'user-1' });
    return insertInboxItem(tx, { event, class: kind, decisions: [], place });
  });
  const look = () => store.read((db) => eventOutcome(db, { account: event.account, chatId: event.chat.id, nativeId: event.nativeId, kind: event.kind }));
  return { id: id ?? assert.fail('it was known'), look };
};

eachStore((_engine, open) => {
  test('of an event that nobody delivered nothing is known', async () => {
    const { store } = await open();
    assert.equal(await store.read((db) => eventOutcome(db, { account: 'telegram', chatId: 'c', nativeId: 'n', kind: 'message' })), undefined);
  });

  test('a question is open until its turn has ended and its answer has left', async () => {
    const { store } = await open();
    const { id, look } = await arrive(store, 'chat');
    assert.equal((await look())?.state, 'waiting');
    const turn = await store.write(async (tx) => {
      const begun = await startTurn(tx, { sessionId: 's1', lane: place.lane, target: sampleTarget() });
      await joinTurn(tx, [id], begun.id);
      await appendMessage(tx, { sessionId: 's1', turnId: begun.id }, { role: 'user', content: 'question' });
      await appendMessage(tx, { sessionId: 's1', turnId: begun.id }, { role: 'assistant', content: 'let me look' });
      await appendMessage(tx, { sessionId: 's1', turnId: begun.id }, { role: 'assistant', content: 'the answer' });
      await enqueueDelivery(tx, sampleDelivery({ key: 'out' }), { turnId: begun.id });
      await finishTurn(tx, begun.id, { state: 'done', reason: 'completed', error: null, model: 'm', usage: { ...noUsage, inputTokens: 7, outputTokens: 3 } });
      return begun;
    });
    assert.ok(turn.id > 0);
    const between = await look();
    assert.deepEqual([between?.answer, between?.open, between?.sessionId], ['the answer', 1, 's1']);
    assert.deepEqual([between?.turn?.exitReason, between?.turn?.model, between?.turn?.inputTokens, between?.turn?.outputTokens], ['completed', 'm', 7, 3]);
    await store.write(async (tx) => {
      const { id: out } = await tx.q.selectFrom('outbox').select('id').executeTakeFirstOrThrow();
      await settleDelivery(tx, out, { state: 'sent', log: [] });
    });
    assert.equal((await look())?.open, 0);
  });

  test('a command has no turn, only what it delivers', async () => {
    const { store } = await open();
    const { id, look } = await arrive(store, 'control');
    await store.write(async (tx) => {
      await closeItem(tx, id, 'command');
      await enqueueDelivery(tx, sampleDelivery({ key: 'one', text: 'State idle' }), { inboxId: id });
    });
    const outcome = await look();
    assert.deepEqual([outcome?.state, outcome?.reason, outcome?.turn, outcome?.deliveries, outcome?.open], ['done', 'command', undefined, 1, 1]);
  });

  test('the size of a context counts what the model sees, up to a limit', async () => {
    const { store } = await open();
    await arrive(store, 'chat');
    const ids = await store.write(async (tx) => {
      const all: number[] = [];
      for (const content of ['12345', '1234567', '123']) all.push(await appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'user', content }));
      return all;
    });
    assert.deepEqual(await store.read((db) => contextSize(db, 's1', 100)), { messages: 3, sizeBytes: 15 });
    assert.deepEqual(await store.read((db) => contextSize(db, 's1', 2)), { messages: 2, sizeBytes: 10 });
    await store.write((tx) => deactivateFrom(tx, 's1', ids[2] ?? 0));
    assert.deepEqual(await store.read((db) => contextSize(db, 's1', 100)), { messages: 2, sizeBytes: 12 });
    assert.deepEqual(await store.read((db) => contextSize(db, 'none', 100)), { messages: 0, sizeBytes: 0 });
  });
});
