import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { untilAwaited } from '../../../test/support/until-awaited.ts';
import { noUsage } from '../../core/transcript.ts';
import { apiCall, endApiCall, insertApiCall } from '../../store/api/api-calls.ts';
import { closeTurnItems } from '../../store/messages/inbox.ts';
import { laneFacts, lockLane, turnLane } from '../../store/lanes/lanes.ts';
import { deleteApiSession } from '../../store/sessions/delete-sessions.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import type { Store, Writing } from '../../store/store.ts';
import { finishTurn, startTurn } from '../../store/sessions/turns.ts';
import { newApiSessions } from './api-sessions.ts';
import { beginCall, submitCall as putCall } from './api-turn.test-support.ts';
import { cancelCall } from './cancel-call.ts';
import { apiAccount } from './place.ts';
import { steerRun } from './steer-run.ts';
import { submitCall } from './submit-call.ts';
import type { Submitted } from './submit-call.ts';

const lane = turnLane('s');
const target = { account: apiAccount, chatId: 'c', chatType: 'dm' } as const;

const putKept = (store: Store, id: string): Promise<void> =>
  store.write(async (tx) => {
    await putCall(tx, 's', id);
    await insertApiCall(tx, { id, keyId: 'k', kind: 'chat', sessionId: 's', request: {}, hidden: false });
  });

const stopWishes = async (store: Store): Promise<readonly unknown[]> => {
  const turns = await store.read((db) => db.q.selectFrom('turns').select('exit_reason').where('state', '=', 'running').execute());
  return [...turns.map((turn) => turn.exit_reason), (await store.read((db) => laneFacts(db, lane))).stops];
};

const submit = (store: Store): Promise<Submitted> =>
  submitCall((work) => store.write(work), {
    id: 'late',
    kind: 'chat',
    callerId: 'k',
    agent: 'main',
    place: { chat: { id: 'c', type: 'dm' }, sender: { id: 'k', isBot: false } },
    session: { type: 'id', id: 's' },
    history: [],
    text: 'hello',
    files: [],
    results: [],
    request: {},
    hidden: false,
    nowMs: 1,
  });

/** Does something in the conversation's lane, and ends only when somebody else waits for it. */
const inLane = (store: Store, work: (tx: Writing) => Promise<void>): Promise<{ readonly done: Promise<void> }> =>
  untilAwaited(store, async (tx) => {
    await lockLane(tx, { lane, kind: 'turn' });
    await work(tx);
  });

eachStore((engine, open) => {
  test('a call that waits never begins, one that runs is to stop, one that has ended is left alone', async () => {
    const { store } = await open();
    await putKept(store, 'A');
    await store.write((tx) => cancelCall(tx, 'A'));
    assert.equal((await store.read((db) => apiCall(db, 'A')))?.result?.reason, 'stopped');
    await store.write((tx) => deleteApiSession(tx, 's'));
    await putKept(store, 'B');
    const { turn } = await beginCall(store, 's', 'one');
    await store.write((tx) => cancelCall(tx, 'B'));
    assert.deepEqual(await stopWishes(store), ['stopped', 1]);
    await store.write(async (tx) => {
      await finishTurn(tx, turn.id, { state: 'done', reason: 'stopped', error: null, model: null, usage: noUsage });
      await closeTurnItems(tx, turn.id, { state: 'done', reason: 'stopped' });
      await startTurn(tx, { sessionId: 's', lane, target });
    });
    await store.write((tx) => cancelCall(tx, 'B'));
    assert.deepEqual(await stopWishes(store), [null, 1]);
  });

  if (engine === 'sqlite') return;

  test('to cancel a call does not stop the one behind it that begins meanwhile', async () => {
    const { store, another } = await open();
    await putKept(store, 'A');
    const { turn } = await beginCall(store, 's', 'one');
    const { done } = await inLane(store, async (tx) => {
      await finishTurn(tx, turn.id, { state: 'done', reason: 'completed', error: null, model: null, usage: noUsage });
      await closeTurnItems(tx, turn.id, { state: 'done', reason: 'completed' });
      await endApiCall(tx, 'A', { reason: 'completed', error: null, rows: [], usage: noUsage, throughId: 0 });
      await startTurn(tx, { sessionId: 's', lane, target });
    });
    await Promise.all([done, (await another()).write((tx) => cancelCall(tx, 'A'))]);
    assert.deepEqual(await stopWishes(store), [null, 0]);
  });

  test('nothing is said to a run that ends meanwhile', async () => {
    const { store, another } = await open();
    await putKept(store, 'run_1');
    const { turn } = await beginCall(store, 's', 'one');
    const { done } = await inLane(store, async (tx) => {
      await closeTurnItems(tx, turn.id, { state: 'done', reason: 'completed' });
    });
    const other = await another();
    const [said] = await Promise.all([other.write((tx) => steerRun(tx, { id: 'run_1', sessionId: 's' }, { text: 'x', nowMs: 1 })), done]);
    assert.equal(said, 'not_running');
  });

  test('a call for a conversation that is removed meanwhile is refused, and such a conversation is not copied', async () => {
    const { store, another, clock } = await open();
    const other = await another();
    const calls = [() => submit(other), () => newApiSessions({ store: other, clock, mediaFolder: '' }).fork('k', 's', {})];
    for (const [i, why] of ['no_session', 'not_found'].entries()) {
      await store.write((tx) => createSession(tx, { id: 's', agent: 'main', account: apiAccount, chatType: 'dm', userId: 'k' }));
      const { done } = await inLane(store, (tx) => deleteApiSession(tx, 's'));
      const [answer] = await Promise.all([calls[i]?.(), done]);
      assert.deepEqual(answer, { type: 'refused', why });
    }
    assert.deepEqual(await store.read((db) => db.q.selectFrom('inbox').select('id').execute()), []);
  });
});
