import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { replyTarget } from '../core/message.ts';
import { noUsage } from '../core/transcript.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { claimLane, enqueueLane, turnLane } from '../store/lanes/lanes.ts';
import { createSession } from '../store/sessions/sessions.ts';
import type { Store } from '../store/store.ts';
import { requestTurnStop } from '../store/sessions/turns.ts';
import { beginTurn } from './begin.ts';
import type { Begun, BegunTurn } from './begin.ts';
import type { TurnPolicy } from './turn-policy.ts';
import { commitTurn, suspendTurn } from './commit.ts';
import type { TurnResult } from './commit.ts';

const lane = turnLane('s1');

const policy: TurnPolicy = {
  maxAttempts: 3,
  continueWithinMs: () => 3_600_000,
  busyMode: () => 'queue',
  isShared: () => false,
  replyTo: replyTarget,
  anchorAll: () => false,
  platform: () => telegram as Platform,
};

const say = (store: Store, text: string): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane, kind: 'turn' });
    return insertInboxItem(tx, { event: sampleEvent({ text }), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k' } });
  });

const begin = (store: Store, owner = 'a'): Promise<Begun> =>
  store.write(async (tx) => {
    const claim = await claimLane(tx, { lane, owner, leaseMs: 60_000 });
    assert.ok(claim !== undefined);
    return beginTurn(tx, claim, policy);
  });

const start = async (store: Store): Promise<BegunTurn> => {
  await store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));
  await say(store, 'one');
  const begun = await begin(store);
  assert.ok(begun.type === 'turn');
  return begun;
};

const answer = (begun: BegunTurn, text: string): TurnResult => ({
  reason: 'completed',
  asked: false,
  window: {},
  error: null,
  model: 'm',
  usage: { ...noUsage, inputTokens: 5 },
  messages: [{ role: 'assistant', content: text }],
  answer: { target: begun.turn.target, text },
});

const said = async (store: Store): Promise<readonly string[]> => (await store.read((db) => db.q.selectFrom('messages').select('content').orderBy('id').execute())).map((row) => row.content);

const free = (store: Store): Promise<unknown> => store.write((tx) => tx.q.updateTable('lanes').set({ owner: null, lease_until: 0 }).execute());

eachStore((_engine, open) => {
  test('the end of a turn is written together with the start of the next', async () => {
    const { store } = await open();
    const begun = await start(store);
    await say(store, 'two');
    const next = await commitTurn(store, begun, answer(begun, 're: one'), policy);
    assert.ok(next.type === 'turn');
    assert.deepEqual(await said(store), ['one', 're: one', 'two']);
    const items = await store.read((db) => db.q.selectFrom('inbox').select('state').orderBy('id').execute());
    assert.deepEqual(items.map((row) => row.state), ['done', 'running']);
    assert.equal((await commitTurn(store, next, answer(next, 're: two'), policy)).type, 'wait');
  });

  test('a commit that is repeated because its confirmation was lost writes nothing twice', async () => {
    const { store } = await open();
    const begun = await start(store);
    await say(store, 'two');
    const result = answer(begun, 're: one');
    await commitTurn(store, begun, result, policy);
    const again = await commitTurn(store, begun, result, policy);
    assert.ok(again.type === 'turn' && again.resumed);
    assert.deepEqual(await said(store), ['one', 're: one', 'two']);
    assert.equal((await store.read((db) => db.q.selectFrom('outbox').select('id').execute())).length, 1);
    const session = await store.read((db) => db.q.selectFrom('sessions').select(['turn_count', 'input_tokens']).executeTakeFirstOrThrow());
    assert.deepEqual([session.turn_count, session.input_tokens], [1, 5]);
  });

  test('somebody whose lane went to another cannot write the end of his turn', async () => {
    const { store } = await open();
    const begun = await start(store);
    await free(store);
    await begin(store, 'b');
    await assert.rejects(commitTurn(store, begun, answer(begun, 'late'), policy), { code: 'lane_lost' });
    await assert.rejects(suspendTurn(store, begun, { cut: true }), { code: 'lane_lost' });
    assert.deepEqual(await said(store), ['one']);
  });

  test('a turn that was put down is taken up again as it was, and counts as one attempt', async () => {
    const { store } = await open();
    const begun = await start(store);
    await suspendTurn(store, begun, { cut: true });
    const again = await begin(store, 'b');
    assert.ok(again.type === 'turn' && again.resumed);
    assert.deepEqual([again.turn.id, again.turn.attempts], [begun.turn.id, 1]);
    assert.deepEqual(await said(store), ['one']);
  });

  test('a turn that ended its process three times is set aside: told once, kept, out of the sight of the model', async () => {
    const { store } = await open();
    await start(store);
    for (let attempt = 2; attempt <= 3; attempt += 1) {
      await free(store);
      const again = await begin(store);
      assert.ok(again.type === 'turn' && again.turn.attempts === attempt);
    }
    await free(store);
    await say(store, 'two');
    const next = await begin(store);
    assert.ok(next.type === 'turn' && !next.resumed);
    const rows = await store.read((db) => db.q.selectFrom('messages').select(['content', 'active']).orderBy('id').execute());
    assert.deepEqual(rows.map((row) => [row.content, row.active]), [['one', 0], ['two', 1]]);
    const notices = await store.read((db) => db.q.selectFrom('outbox').select('payload').execute());
    assert.equal(notices.length, 1);
    assert.match(notices[0]?.payload ?? '', /set this message aside/);
  });

  test('a turn that was to stop when its process ended is not run again', async () => {
    const { store } = await open();
    await start(store);
    await store.write((tx) => requestTurnStop(tx, lane));
    await free(store);
    assert.equal((await begin(store)).type, 'wait');
    const [turn] = await store.read((db) => db.q.selectFrom('turns').select(['state', 'exit_reason']).execute());
    assert.deepEqual([turn?.state, turn?.exit_reason], ['done', 'stopped']);
    assert.deepEqual(await said(store), ['one']);
  });
});
