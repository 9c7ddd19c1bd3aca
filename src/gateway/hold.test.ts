import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import type { InboundEvent } from '../core/message.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { holdMs } from './hold.ts';

const lane = 'turn:s1';
const call = (mostMs = 60_000): InboundEvent => sampleEvent({ batch: { id: 'b', kind: 'calls', hold: { ms: 30_000, mostMs } } });

eachStore((_engine, open) => {
  test('parts of a message are waited for a moment, calls as long as the owner says, and never longer than that after the first', async () => {
    const { store } = await open();
    const held = (event: InboundEvent) => store.write((tx) => holdMs(tx, lane, event));
    assert.equal(await held(sampleEvent()), 0);
    assert.equal(await held(sampleEvent({ batch: { id: 'a', kind: 'album' } })), 600);
    assert.equal(await held(call()), 30_000);
    await store.write((tx) => insertInboxItem(tx, { event: call(), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k1' } }));
    await store.write((tx) => tx.q.updateTable('inbox').set((eb) => ({ received_at: eb('received_at', '-', 40_000) })).execute());
    assert.equal(await held(call(100_000)), 30_000);
    const left = await held(call());
    assert.ok(left > 0 && left <= 20_000, String(left));
    assert.equal(await held(call(40_000)), 0);
    assert.equal(await store.write((tx) => holdMs(tx, 'turn:s2', call())), 30_000);
  });
});
