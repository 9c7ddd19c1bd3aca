import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../core/transcript.ts';
import { sampleDelivery, sampleEvent, sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { closeTurnItems, insertInboxItem, joinTurn } from './inbox.ts';
import { enqueueDelivery, headOfLane, markSending, settleDelivery } from './outbox.ts';
import type { Store } from '../store.ts';
import { traceMessage } from './trace.ts';
import { finishTurn, startTurn } from '../sessions/turns.ts';

const lane = 'turn:s1';
const decisions = [
  { step: 'access', verdict: 'allowed: platform allowlist' },
  { step: 'route', verdict: 'agent main' },
];

/** One message from its arrival to its answer; answers its number. */
const answered = (store: Store, nativeId: string, answerId: string): Promise<number> =>
  store.write(async (tx) => {
    const event = sampleEvent({ nativeId, text: 'question' });
    const id = (await insertInboxItem(tx, { event, class: 'chat', decisions, place: { lane, sessionId: 's1', sessionKey: 'k1' } })) ?? 0;
    const turn = await startTurn(tx, { sessionId: 's1', lane, target: sampleTarget() });
    await joinTurn(tx, [id], turn.id);
    await closeTurnItems(tx, turn.id, { state: 'done', reason: 'completed' });
    await finishTurn(tx, turn.id, { state: 'done', reason: 'completed', error: null, model: 'm1', usage: { ...noUsage, inputTokens: 12, outputTokens: 3 } });
    await enqueueDelivery(tx, sampleDelivery({ key: `turn:${turn.id}` }), { turnId: turn.id });
    const head = await headOfLane(tx, 'out:telegram:chat-1');
    await markSending(tx, head?.id ?? 0);
    await settleDelivery(tx, head?.id ?? 0, { state: 'sent', log: [{ atMs: 5, outcome: 'rate_limited' }, { atMs: 9, outcome: 'sent' }], messageIds: [answerId, `${answerId}-part2`] });
    return id;
  });

const trace = (store: Store, ref: string) => store.read((db) => traceMessage(db, ref));

eachStore((_engine, open) => {
  test('the life of a message is told from every name it has', async () => {
    const { store } = await open();
    await answered(store, 'other', 'other-answer');
    const id = await answered(store, 'native-A', 'answer-"A"');
    const [told, ...more] = await trace(store, `in_${id}`);
    assert.deepEqual(more, []);
    assert.deepEqual(told?.arrival?.decisions, decisions);
    assert.deepEqual([told?.arrival?.id, told?.arrival?.state, told?.arrival?.reason, told?.arrival?.event.text, told?.arrival?.sessionId], [id, 'done', 'completed', 'question', 's1']);
    assert.deepEqual([told?.turn?.attempts, told?.turn?.exitReason, told?.turn?.model, told?.turn?.inputTokens, told?.turn?.outputTokens], [1, 'completed', 'm1', 12, 3]);
    assert.equal(told?.deliveries.length, 1);
    const [delivery] = told?.deliveries ?? [];
    assert.deepEqual([delivery?.state, delivery?.attempts, delivery?.repeated, delivery?.messageIds], ['sent', 1, false, ['answer-"A"', 'answer-"A"-part2']]);
    assert.deepEqual(delivery?.log.map((attempt) => attempt.outcome), ['rate_limited', 'sent']);
    for (const ref of [String(id), 'native-A', 'answer-"A"', 'answer-"A"-part2']) assert.deepEqual(await trace(store, ref), [told], ref);
    assert.deepEqual(structuredClone(told), told);
  });

  test('what was skipped has its reason and nothing else', async () => {
    const { store } = await open();
    const event = sampleEvent();
    await store.write((tx) => insertInboxItem(tx, { event, class: 'chat', decisions: [{ step: 'access', verdict: 'denied' }], skipped: 'not allowed' }));
    const [told] = await trace(store, event.nativeId);
    assert.deepEqual([told?.arrival?.state, told?.arrival?.reason, told?.turn, told?.deliveries], ['skipped', 'not allowed', null, []]);
  });

  test('a command is told with the answer that it caused', async () => {
    const { store } = await open();
    const event = sampleEvent({ text: '/status' });
    await store.write(async (tx) => {
      const id = await insertInboxItem(tx, { event, class: 'control', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k1' } });
      await enqueueDelivery(tx, sampleDelivery({ key: 'command' }), { inboxId: id ?? 0 });
    });
    const [told] = await trace(store, event.nativeId);
    assert.deepEqual(told?.deliveries.map((delivery) => [delivery.key, delivery.state]), [['command', 'pending']]);
  });

  test('an id that stands in several chats gives each of them, newest first, and no more than ten', async () => {
    const { store } = await open();
    for (let i = 0; i < 12; i += 1) {
      const event = sampleEvent({ nativeId: 'native-42', chat: { id: `chat-${i}`, type: 'dm' } });
      await store.write((tx) => insertInboxItem(tx, { event, class: 'chat', decisions: [], skipped: 'test' }));
    }
    const told = await trace(store, 'native-42');
    assert.deepEqual(told.filter((one) => one.arrival?.event.nativeId === 'native-42').map((one) => one.arrival?.event.chat.id).slice(0, 3), ['chat-11', 'chat-10', 'chat-9']);
    assert.ok(told.length <= 10);
  });

  test('a number of ours comes before the same number of a platform', async () => {
    const { store } = await open();
    const id = await answered(store, 'native-A', 'answer-A');
    await answered(store, String(id), 'answer-B');
    const told = await trace(store, String(id));
    assert.deepEqual(told.map((one) => one.arrival?.event.nativeId), ['native-A', String(id)]);
    assert.deepEqual((await trace(store, `in_${id}`)).map((one) => one.arrival?.event.nativeId), ['native-A']);
  });

  test('a message that is found by two of its names is told once', async () => {
    const { store } = await open();
    await answered(store, 'same', 'same');
    assert.equal((await trace(store, 'same')).length, 1);
  });

  test('an answer that nobody asked for is told without an arrival', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await enqueueDelivery(tx, sampleDelivery({ key: 'cron:1' }), {});
      const head = await headOfLane(tx, 'out:telegram:chat-1');
      await settleDelivery(tx, head?.id ?? 0, { state: 'sent', log: [], messageIds: ['scheduled'] });
    });
    const told = await trace(store, 'scheduled');
    assert.deepEqual(told.map((one) => [one.arrival, one.turn, one.deliveries.map((delivery) => delivery.key)]), [[null, null, ['cron:1']]]);
  });

  test('the answer of a turn tells every message it answered', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      const ids: number[] = [];
      for (const nativeId of ['first', 'second']) ids.push((await insertInboxItem(tx, { event: sampleEvent({ nativeId }), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k1' } })) ?? 0);
      const turn = await startTurn(tx, { sessionId: 's1', lane, target: sampleTarget() });
      await joinTurn(tx, ids, turn.id);
      await enqueueDelivery(tx, sampleDelivery(), { turnId: turn.id });
      const head = await headOfLane(tx, 'out:telegram:chat-1');
      await settleDelivery(tx, head?.id ?? 0, { state: 'sent', log: [], messageIds: ['both'] });
    });
    const told = await trace(store, 'both');
    assert.deepEqual(told.map((one) => one.arrival?.event.nativeId), ['first', 'second']);
    assert.equal(told[0]?.turn?.id, told[1]?.turn?.id);
  });

  test('an unknown name finds nothing, whatever characters it has', async () => {
    const { store } = await open();
    await answered(store, 'native-A', 'answer-A');
    for (const ref of ['', 'in_', 'in_999999', '999999999999999999999', '%', '_', '"', 'answer', "'; --", '\0']) assert.deepEqual(await trace(store, ref), [], ref);
  });
});
