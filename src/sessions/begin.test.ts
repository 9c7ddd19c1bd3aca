import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { replyTarget } from '../core/message.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { beginTurn } from './begin.ts';

eachStore((_engine, open) => {
  test('what waits for a conversation that is gone is closed with that reason, and nothing begins', async () => {
    const { store } = await open();
    const lane = turnLane('gone');
    const begun = await store.write(async (tx) => {
      await enqueueLane(tx, { lane, kind: 'turn' });
      for (const nativeId of ['1', '2']) await insertInboxItem(tx, { event: sampleEvent({ nativeId }), class: 'chat', decisions: [], place: { lane, sessionId: 'gone', sessionKey: '' } });
      const claim = (await claimLane(tx, { lane, owner: 'one', leaseMs: 60_000 })) ?? assert.fail('the lane is held');
      return beginTurn(tx, claim, { maxAttempts: 3, continueWithinMs: () => 0, busyMode: () => 'queue', isShared: () => false, replyTo: replyTarget, anchorAll: () => false, platform: () => undefined });
    });
    assert.deepEqual(begun, { type: 'wait', ms: undefined });
    const rows = await store.read((db) => db.q.selectFrom('inbox').select(['state', 'reason']).execute());
    assert.deepEqual(rows, [1, 2].map(() => ({ state: 'done', reason: 'its conversation was removed' })));
    assert.deepEqual(await store.read((db) => db.q.selectFrom('lanes').select(['has_work', 'owner']).execute()), [{ has_work: 0, owner: null }]);
  });
});
