import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import { elapse } from '../store/elapse.test-support.ts';
import { laneStates, requestStop } from '../store/lanes/lanes.ts';
import type { Store } from '../store/store.ts';
import { converse, endOf, isFree, lane, openSession, policyOf, quickClock, say, saidBy, sent, transcript, troubledStore, turns } from './conversations.test-support.ts';
import type { Conversing, QuickClock, Run } from './conversations.test-support.ts';

/** Works on what it is asked for until it is told to end, except on what is to be quick. */
const longWork = (): { readonly run: Run; readonly asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    async *run(input, signal) {
      const last = input.transcript.findLast((row) => row.role === 'user')?.content ?? '';
      asked.push(last);
      if (!last.includes('quick')) await untilAborted(signal);
      if (!signal.aborted) yield saidBy('assistant', `re: ${last}`);
      yield endOf(signal);
    },
  };
};

const isIdle = ({ conversations }: Conversing): boolean => conversations.runningCount === 0;

/** Long enough for whoever looks now and then to have looked. */
const looked = async (clock: QuickClock): Promise<void> => {
  const before = clock.looks;
  await until(() => clock.looks >= before + 10, 'some looks');
};

eachStore((_engine, open) => {
  const takeOver = (store: Store): Promise<unknown> => store.write((tx) => tx.q.updateTable('lanes').set((eb) => ({ owner: 'b', fence: eb('fence', '+', 1) })).execute());

  test('a turn whose lane another node has taken over ends here and leaves nothing', async () => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'the long job');
    const { run, asked } = longWork();
    await using conversing = converse(store, run);
    await until(() => asked.length === 1, 'the turn to run');
    await takeOver(store);
    await until(() => isIdle(conversing), 'the turn to end');
    assert.deepEqual((await turns(store)).map(({ state, attempts }) => [state, attempts]), [['running', 1]]);
    assert.deepEqual(await sent(store), []);
    assert.equal(conversing.lines.filter((line) => line.includes('turn.lane_lost')).length, 1);
    assert.deepEqual(await conversing.stop(), []);
  });

  test('a stop that nobody was notified of reaches the turn', async () => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'the long job');
    const { run, asked } = longWork();
    await using conversing = converse(store, run);
    await until(() => asked.length === 1, 'the turn to run');
    await store.write((tx) => requestStop({ ...tx, notify: () => undefined }, lane));
    await until(() => isIdle(conversing), 'the turn to end');
    assert.deepEqual((await turns(store)).map((turn) => turn.exit_reason), ['stopped']);
  });

  test('signs of life keep the lane of a long turn', async () => {
    const opened = await open();
    const { store } = opened;
    await openSession(store);
    await say(store, 'the long job');
    const { run, asked } = longWork();
    await using conversing = converse(store, run);
    await until(() => asked.length === 1, 'the turn to run');
    const leftMs = async (): Promise<number> => (await store.read((db) => laneStates(db, [lane]))).get(lane)?.leftMs ?? 0;
    await elapse(opened, 30_000, 'lanes');
    await until(async () => (await leftMs()) > 45_000, 'the lease to be extended');
    assert.equal(conversing.conversations.runningCount, 1);
  });

  test('a store that is away for less than a lease costs a turn nothing, one that is away for longer ends it until it is back', async () => {
    const opened = await open();
    const { store } = opened;
    await openSession(store);
    await say(store, 'the long job');
    const troubled = troubledStore(store);
    const clock = quickClock();
    const { run, asked } = longWork();
    await using conversing = converse(troubled, run, { clock });
    await until(() => asked.length === 1, 'the turn to run');
    troubled.trouble.reads = Infinity;
    clock.move(30_000);
    await looked(clock);
    assert.equal(conversing.conversations.runningCount, 1);
    troubled.trouble.writes = Infinity;
    clock.move(30_000);
    await until(() => isIdle(conversing), 'the turn to end');
    assert.equal(asked.length, 1);
    Object.assign(troubled.trouble, { reads: 0, writes: 0 });
    await until(() => isFree(store), 'the lane to be given back');
    await elapse(opened, 6_000, 'lanes');
    await until(() => asked.length === 2, 'the turn to go on');
    assert.deepEqual((await turns(store)).map(({ state, attempts }) => [state, attempts]), [['running', 1]]);
  });

  test('a turn that was ended because nobody could say whose it is goes on as soon as that is known, whatever happens to turns that a restart cuts off', async () => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'the long job');
    const troubled = troubledStore(store);
    const clock = quickClock();
    const { run, asked } = longWork();
    const untilEnded: Run = (input, signal) => {
      signal.addEventListener('abort', () => (troubled.trouble.reads = 0));
      return run(input, signal);
    };
    await using conversing = converse(troubled, untilEnded, { clock, policy: { ...policyOf('queue'), continueWithinMs: () => 0 } });
    await until(() => asked.length === 1, 'the turn to run');
    troubled.trouble.reads = Infinity;
    clock.move(60_000);
    await until(() => asked.length === 2, 'the turn to go on');
    assert.ok(conversing.lines.some((line) => line.includes('turn.lane_unsure')));
    const suspended = await conversing.stop();
    assert.equal(suspended.length, 1);
    assert.deepEqual((await turns(store)).map(({ state, attempts }) => [state, attempts]), [['running', 0]]);
  });

  test('a turn that goes on after a restart is overtaken by what was said meanwhile', async () => {
    const { store, pass } = await open();
    await openSession(store);
    await say(store, 'coffee for the whole town');
    const { run, asked } = longWork();
    const first = converse(store, run, { policy: policyOf('interrupt') });
    await until(() => asked.length === 1, 'the turn to run');
    await first.stop();
    await pass(5);
    await say(store, 'no, tea, quick');
    await using _second = converse(store, run, { policy: policyOf('interrupt'), owner: 'b' });
    await until(async () => (await sent(store)).includes('re: no, tea, quick'), 'an answer to what was said last');
    assert.deepEqual((await turns(store)).map((turn) => turn.exit_reason), ['interrupted', 'completed']);
    assert.deepEqual(await transcript(store), ['user: coffee for the whole town', 'user: no, tea, quick', 'assistant: re: no, tea, quick']);
  });

  test('a newer message that nobody was notified of overtakes the turn', async () => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'coffee');
    const { run, asked } = longWork();
    await using _conversing = converse(store, run, { policy: policyOf('interrupt') });
    await until(() => asked.length === 1, 'the turn to run');
    await say(store, 'no, tea, quick');
    await until(async () => (await sent(store)).includes('re: no, tea, quick'), 'an answer to what was said last');
  });

  for (const [what, mode, more] of [
    ['a notice', 'interrupt', { kind: 'notice' }],
    ['what a command has put in line', 'interrupt', { patient: true }],
    ['what is said to the running turn', 'interrupt', { steers: true }],
    ['a message in a conversation that queues', 'queue', {}],
  ] as const) {
    test(`${what} does not overtake a turn, and neither hides what does`, async () => {
      const { store } = await open();
      await openSession(store);
      await say(store, 'coffee');
      const clock = quickClock();
      let now: 'interrupt' | 'queue' = mode;
      const { run, asked } = longWork();
      await using conversing = converse(store, run, { clock, policy: { ...policyOf(mode), busyMode: () => now } });
      await until(() => asked.length === 1, 'the turn to run');
      await say(store, 'tea, quick', more);
      await looked(clock);
      assert.equal(conversing.conversations.runningCount, 1);
      assert.deepEqual((await turns(store)).map((turn) => turn.state), ['running']);
      now = 'interrupt';
      await say(store, 'water, quick');
      await until(async () => (await turns(store))[0]?.exit_reason === 'interrupted', 'the turn to be overtaken');
    });
  }

  test('what had come before the turn and belongs elsewhere does not overtake it, also after a restart', async () => {
    const { store } = await open();
    await openSession(store);
    await say(store, 'here');
    await say(store, 'there', { chat: { id: 'chat-2', type: 'dm' } });
    const { run, asked } = longWork();
    for (const owner of ['a', 'b']) {
      const clock = quickClock();
      await using conversing = converse(store, run, { clock, policy: policyOf('interrupt'), owner });
      await until(() => conversing.conversations.runningCount === 1, 'the turn to run');
      await looked(clock);
      assert.deepEqual((await turns(store)).map((turn) => turn.state), ['running']);
    }
    assert.deepEqual([...new Set(asked)], ['here']);
  });
});
