import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '../../test/support/samples.ts';
import { eachStore } from '../../test/support/stores.ts';
import { replyTarget } from '../core/message.ts';
import type { InboundEvent } from '../core/message.ts';
import { noUsage } from '../core/transcript.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import type { Platform } from '../platforms/contract.ts';
import { telegram } from '../platforms/telegram/index.ts';
import { insertInboxItem } from '../store/messages/inbox.ts';
import { claimLane, enqueueLane, holdLane, releaseLane, releaseOwner, turnLane } from '../store/lanes/lanes.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { inMs } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { leaveChore } from '../store/sessions/turns.ts';
import { beginTurn } from './begin.ts';
import type { Begun, BegunTurn } from './begin.ts';
import type { TurnOutcome, TurnPolicy } from './turn-policy.ts';
import { commitTurn, suspendTurn } from './commit.ts';
import { appendToTurn } from './write-to-turn.ts';

const lane = turnLane('s1');
const hourMs = 3_600_000;

const policyOf = (continueWithinMs: number, more: Partial<TurnPolicy> = {}): TurnPolicy => ({
  maxAttempts: 9,
  continueWithinMs: () => continueWithinMs,
  busyMode: () => 'queue',
  isShared: () => false,
  replyTo: replyTarget,
  anchorAll: () => false,
  platform: () => telegram as Platform,
  ...more,
});

const say = (store: Store, text: string, more: Partial<InboundEvent> = {}): Promise<unknown> =>
  store.write(async (tx) => {
    await enqueueLane(tx, { lane, kind: 'turn' });
    return insertInboxItem(tx, { event: sampleEvent({ text, nativeId: text, ...more }), class: 'chat', decisions: [], place: { lane, sessionId: 's1', sessionKey: 'k' } });
  });

const begin = (store: Store, policy: TurnPolicy, owner = 'a'): Promise<Begun> =>
  store.write(async (tx) => {
    const claim = await claimLane(tx, { lane, owner, leaseMs: 60_000 });
    assert.ok(claim !== undefined, 'the lane can be claimed');
    return beginTurn(tx, claim, policy);
  });

const begunTurn = async (store: Store, policy: TurnPolicy, owner?: string): Promise<BegunTurn> => {
  const begun = await begin(store, policy, owner);
  assert.ok(begun.type === 'turn');
  return begun;
};

const start = async (store: Store, more: Partial<InboundEvent> = {}): Promise<BegunTurn> => {
  await store.write((tx) => createSession(tx, { id: 's1', agent: 'main', account: 'telegram', chatType: 'dm' }));
  await say(store, 'tidy the  cellar', more);
  return begunTurn(store, policyOf(hourMs));
};

/** The owner was killed; its lease ran out so long ago. */
const died = (store: Store, agoMs: number): Promise<unknown> => store.write((tx) => tx.q.updateTable('lanes').set({ lease_until: inMs(tx, -agoMs) }).execute());

/** It was put down in order, so long ago. */
const wasPutDown = async (store: Store, begun: BegunTurn, agoMs: number): Promise<void> => {
  await suspendTurn(store, begun, { cut: true });
  await store.write((tx) => tx.q.updateTable('lanes').set((eb) => ({ cut_at: eb('cut_at', '-', agoMs) })).execute());
};

const call = { id: 'c1', name: 'terminal', arguments: '{}' };
const rows = (store: Store) => store.read((db) => db.q.selectFrom('messages').select(['role', 'content', 'active']).orderBy('id').execute());
const items = (store: Store) => store.read((db) => db.q.selectFrom('inbox').select(['state', 'reason']).orderBy('id').execute());
const notices = (store: Store) => store.read((db) => db.q.selectFrom('outbox').select(['key', 'payload']).orderBy('id').execute());

eachStore((_engine, open) => {
  test('a turn that was cut off too long ago ends: told once, kept in the transcript, and the next message goes on from there', async () => {
    const { store } = await open();
    const begun = await start(store);
    await appendToTurn({ store, clock: systemClock, log: silentLogger, signal: AbortSignal.abort() }, begun, [{ role: 'assistant', content: 'On it.', toolCalls: [call] }]);
    await died(store, 2 * hourMs);
    await say(store, 'go on');
    const next = await begunTurn(store, policyOf(hourMs), 'b');
    assert.equal(next.resumed, false);
    const kept = await rows(store);
    assert.deepEqual(kept.map(({ role, active }) => [role, active]), [['user', 1], ['assistant', 1], ['tool', 1], ['user', 1]]);
    assert.match(kept[2]?.content ?? '', /^Interrupted by a restart/);
    const [first, second] = await items(store);
    assert.deepEqual([first?.state, second?.state], ['cut_off', 'running']);
    assert.equal(first?.reason, 'cut off 2 h earlier; turns go on by themselves within 60 min (agent.gateway_auto_continue_freshness). The next message there continues from it');
    const told = await notices(store);
    assert.deepEqual(told.map(({ key }) => key), [`turn:${begun.turn.id}:cut_off`]);
    assert.match(told[0]?.payload ?? '', /I was cut off 2 h ago while I worked on “tidy the cellar”, and have not gone on/);
    const [turn] = await store.read((db) => db.q.selectFrom('turns').select(['state', 'exit_reason', 'error']).orderBy('id').execute());
    assert.deepEqual([turn?.state, turn?.exit_reason], ['done', 'cut_off']);
    await died(store, 1);
    await begin(store, policyOf(hourMs), 'c');
    assert.equal((await notices(store)).length, 1);
  });

  test('within the window it goes on, whichever way it was cut off', async () => {
    const { store } = await open();
    const first = await start(store);
    await died(store, hourMs / 2);
    const second = await begunTurn(store, policyOf(hourMs), 'b');
    assert.deepEqual([second.turn.id, second.resumed], [first.turn.id, true]);
    await wasPutDown(store, second, hourMs / 2);
    const third = await begunTurn(store, policyOf(hourMs), 'c');
    await store.write((tx) => releaseOwner(tx, 'c'));
    const fourth = await begunTurn(store, policyOf(hourMs), 'd');
    assert.deepEqual([third.resumed, fourth.resumed], [true, true]);
    assert.deepEqual(await notices(store), []);
  });

  test('a node that has just died is inside any window but none: what counts is since when nobody has the lane', async () => {
    const { store } = await open();
    await start(store);
    await store.write((tx) => releaseOwner(tx, 'a'));
    assert.equal((await begunTurn(store, policyOf(30_000), 'b')).resumed, true);
    await died(store, 1000);
    assert.equal((await begunTurn(store, policyOf(30_000), 'c')).resumed, true);
    await store.write((tx) => releaseOwner(tx, 'c'));
    assert.deepEqual(await begin(store, policyOf(0), 'd'), { type: 'wait', ms: undefined });
    assert.match((await items(store))[0]?.reason ?? '', /turns never go on by themselves/);
  });

  test('a gateway that comes back late finds since when its predecessor was gone', async () => {
    const { store } = await open();
    await start(store);
    await died(store, 2 * hourMs);
    await store.write((tx) => releaseOwner(tx, 'a'));
    assert.equal((await begin(store, policyOf(hourMs), 'b')).type, 'wait');
    assert.equal((await items(store))[0]?.state, 'cut_off');
  });

  test('a turn that was put down in order too long ago ends as well, and a large window lets it go on', async () => {
    const { store } = await open();
    const begun = await start(store);
    await wasPutDown(store, begun, 48 * hourMs);
    const again = await begunTurn(store, policyOf(1000 * hourMs), 'b');
    assert.equal(again.resumed, true);
    await wasPutDown(store, again, 48 * hourMs);
    assert.equal((await begin(store, policyOf(hourMs), 'c')).type, 'wait');
    assert.match((await notices(store))[0]?.payload ?? '', /cut off 2 d ago/);
  });

  test('what has only waited is answered whatever its age', async () => {
    const { store } = await open();
    const begun = await start(store);
    await suspendTurn(store, begun, { cut: false });
    await store.write((tx) => tx.q.updateTable('inbox').set((eb) => ({ received_at: eb('received_at', '-', 48 * hourMs) })).execute());
    assert.equal((await begunTurn(store, policyOf(0), 'b')).turn.id, begun.turn.id);
  });

  test('a turn that was still waiting for the files of its message has asked nobody yet, and begins again', async () => {
    const { store } = await open();
    const begun = await start(store, { media: [{ kind: 'photo', mime: 'image/png', ref: { id: 'f1' } }] });
    assert.equal(begun.unwritten.length, 1);
    await died(store, 48 * hourMs);
    assert.equal((await begunTurn(store, policyOf(0), 'b')).unwritten.length, 1);
    assert.deepEqual(await notices(store), []);
  });

  test('an interruption that is over does not count again when the store fails hours later', async () => {
    const { store } = await open();
    await start(store);
    await died(store, hourMs / 2);
    const again = await begunTurn(store, policyOf(hourMs), 'b');
    await store.write(async (tx) => {
      await holdLane(tx, again.claim, 60_000);
      await releaseLane(tx, again.claim, { more: true, readyInMs: 0 });
    });
    assert.equal((await begunTurn(store, policyOf(0), 'b')).resumed, true);
  });

  test('nor against the turn that follows, when the end of the one that went on is written twice', async () => {
    const { store } = await open();
    await start(store);
    await say(store, 'two');
    await died(store, hourMs / 2);
    const again = await begunTurn(store, policyOf(hourMs), 'b');
    const result = { reason: 'completed', asked: false, window: {}, error: null, model: 'm', usage: noUsage, messages: [{ role: 'assistant', content: 'done' }], answer: undefined } as const;
    await commitTurn(store, again, result, policyOf(0));
    const next = await commitTurn(store, again, result, policyOf(0));
    assert.ok(next.type === 'turn' && next.resumed && next.turn.id !== again.turn.id);
  });

  test('work that is no answer goes on at any time', async () => {
    const { store } = await open();
    const begun = await start(store);
    await store.write((tx) => leaveChore(tx, { sessionId: 's1', lane, target: begun.turn.target, chore: { type: 'compress' } }));
    await died(store, 2 * hourMs);
    const next = await begunTurn(store, policyOf(hourMs), 'b');
    assert.deepEqual([next.turn.chore?.type, next.resumed], ['compress', true]);
  });

  test('a turn that belongs to no chat is settled as cut off', async () => {
    const { store } = await open();
    await start(store);
    await died(store, 2 * hourMs);
    const outcomes: TurnOutcome[] = [];
    await begin(store, policyOf(hourMs, { platform: () => undefined, settle: () => async (_tx, outcome) => void outcomes.push(outcome) }), 'b');
    assert.deepEqual(outcomes.map(({ reason }) => reason), ['cut_off']);
    assert.deepEqual(await notices(store), []);
  });
});
