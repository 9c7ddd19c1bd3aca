import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../../test/support/stores.ts';
import { systemClock } from '../../../lib/clock.ts';
import { delegationsOf, keepDelegation, requestDelegationStop } from '../../../store/agents/delegations.ts';
import { turnLane } from '../../../store/lanes/lanes.ts';
import { waitingItems } from '../../../store/messages/inbox.ts';
import { forgetNode } from '../../../store/nodes.ts';
import { findSession } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { says, silence } from '../../models/chat-simulator.ts';
import { beginConversation, newBench, sessionId } from './delegation.test-support.ts';

const told = async (store: Store): Promise<readonly string[]> => (await store.read((db) => waitingItems(db, turnLane(sessionId), 10))).map(({ event }) => event.text);

const untilTold = async (store: Store, count = 1): Promise<readonly string[]> => {
  for (let tries = 0; tries < 12_000; tries += 1) {
    const texts = await told(store);
    if (texts.length >= count) return texts;
    await systemClock.sleep(5);
  }
  throw new Error('nobody was told');
};

const stateOf = async (store: Store): Promise<readonly string[]> => (await store.read((db) => delegationsOf(db, sessionId, 10))).map(({ state }) => state);

eachStore((_engine, open) => {
  test('work in the background is written down before it begins, and its end starts a turn in the conversation, once', async () => {
    const { store } = await open();
    await beginConversation(store);
    await using bench = await newBench(store);
    await bench.delegations.start();
    const go = Promise.withResolvers<void>();
    bench.simulator.otherwise(async (response, request) => {
      await go.promise;
      await says('found 7 files with sk-secret in them')(response, request);
    });
    const answer = await bench.call({ tasks: [{ goal: 'look here', context: 'quietly' }, { goal: 'look there' }], background: true });
    assert.deepEqual([answer['status'], answer['mode'], answer['tasks']], ['dispatched', 'background', 2]);
    assert.deepEqual([await stateOf(store), await told(store)], [['running'], []]);
    go.resolve();
    const [text = ''] = await untilTold(store);
    assert.match(text, new RegExp(`^\\[IMPORTANT: The work ${String(answer['delegation_id'])} that you handed to 2 helpers in the background has ended`));
    assert.match(text, /Task 1: look here\nContext you gave: quietly\nStatus: completed[\s\S]*untrusted text[\s\S]*found 7 files with \*\*\*[\s\S]*Task 2: look there/);
    assert.deepEqual(await stateOf(store), ['done']);
    assert.equal((await store.read((db) => findSession(db, sessionId)))?.usage.inputTokens, 200, 'what it cost is the conversation’s');
    assert.equal(bench.spent().inputTokens, 0, 'and not the turn’s, which is over');
    await bench.delegations.recover();
    assert.equal((await told(store)).length, 1);
  });

  test('the turn that began it may end, and it goes on', async () => {
    const { store } = await open();
    await beginConversation(store);
    await using bench = await newBench(store);
    const go = Promise.withResolvers<void>();
    bench.simulator.otherwise(async (response, request) => {
      await go.promise;
      await says('done')(response, request);
    });
    const turn = new AbortController();
    await bench.call({ goal: 'a', background: true }, {}, turn.signal);
    turn.abort({ kind: 'stopped' });
    go.resolve();
    assert.match((await untilTold(store))[0] ?? '', /Status: completed/);
  });

  test('a conversation has only so much in the background; more is refused, not queued', async () => {
    const { store } = await open();
    await beginConversation(store);
    await using bench = await newBench(store, { settings: { max_async_children: 1 } });
    bench.simulator.otherwise(silence);
    await bench.call({ goal: 'a', background: true });
    await assert.rejects(bench.call({ goal: 'b', background: true }), /has 1 pieces of work in the background already/);
    assert.deepEqual(await stateOf(store), ['running']);
    assert.equal((await bench.call({ goal: 'b', background: true }, { sessionId: 's2' }))['status'], 'dispatched', 'another conversation has its own');
  });

  test('what a gateway did when it ended is told to be lost, once, and is not begun again', async () => {
    const { store } = await open();
    await beginConversation(store);
    {
      await using bench = await newBench(store, { owner: 'dies' });
      bench.simulator.otherwise(silence);
      await bench.call({ goal: 'paint the shed', background: true });
    }
    assert.deepEqual([await stateOf(store), await told(store)], [['running'], []], 'an orderly end tells nothing yet');
    await store.write((tx) => forgetNode(tx, 'dies'));
    await using next = await newBench(store, { owner: 'comes' });
    await next.delegations.start();
    const [text = ''] = await told(store);
    assert.match(text, /was lost when the gateway ended[\s\S]*not begun again by itself[\s\S]*Task: paint the shed/);
    await next.delegations.recover();
    assert.deepEqual([await stateOf(store), (await told(store)).length, next.simulator.requests.length], [['lost'], 1, 0]);
  });

  test('what another gateway does is left to it', async () => {
    const { store } = await open();
    await beginConversation(store);
    await using _other = await newBench(store, { owner: 'other' });
    await store.write((tx) => keepDelegation(tx, { id: 'd1', sessionId, owner: 'other', request: { tasks: [] } }));
    await using mine = await newBench(store, { owner: 'mine' });
    await mine.delegations.start();
    assert.deepEqual(await stateOf(store), ['running']);
  });

  test('a wish to end it ends it, and the conversation hears what became of it', async () => {
    const { store, another } = await open();
    await beginConversation(store);
    await using bench = await newBench(store);
    await bench.delegations.start();
    bench.simulator.otherwise(silence);
    const { delegation_id: id } = await bench.call({ goal: 'a', background: true });
    while (bench.simulator.requests.length === 0) await systemClock.sleep(2);
    await (await another()).write((tx) => requestDelegationStop(tx, String(id)));
    // On SQLite another process is heard of by looking; here the wish comes through the same store as well.
    await store.write((tx) => requestDelegationStop(tx, String(id)));
    assert.match((await untilTold(store))[0] ?? '', /Status: interrupted.*It was interrupted/);
  });
});
