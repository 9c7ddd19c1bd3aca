import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { OpenedStore } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import type { TurnInput } from '../agent/contract.ts';
import type { TurnEvent } from '../core/turn.ts';
import { answerQuestion, openQuestions } from '../store/agents/questions.ts';
import { elapse } from '../store/elapse.test-support.ts';
import type { Store } from '../store/store.ts';
import { converse, endOf, isFree, openSession, policyOf, say, saidBy, sent, transcript, troubledStore, turns } from './conversations.test-support.ts';
import type { Run, TroubledStore } from './conversations.test-support.ts';

const call = { id: 'c1', name: 'pay', arguments: '{}' };
const paying = (content: string): TurnEvent => ({ type: 'message', message: { role: 'assistant', content, toolCalls: [call] } });
const receipt: TurnEvent = { type: 'message', message: { role: 'tool', content: 'paid, receipt 4711', toolCallId: 'c1', toolName: 'pay' } };

/** Pays a bill once, and meets `trouble` while it does. */
const payer = (trouble: (input: TurnInput) => void): { readonly run: Run; readonly seen: string[] } => {
  const seen: string[] = [];
  return {
    seen,
    async *run(input, signal) {
      seen.push(input.transcript.at(-1)?.content ?? '');
      yield paying('I pay it.');
      trouble(input);
      yield receipt;
      yield saidBy('assistant', 'Done.');
      yield endOf(signal);
    },
  };
};

const whole = ['user: pay the bill', 'assistant: I pay it.', 'tool: paid, receipt 4711', 'assistant: Done.'];

eachStore((_engine, open) => {
  const begin = async (): Promise<{ readonly real: Store; readonly store: TroubledStore; readonly opened: OpenedStore }> => {
    const opened = await open();
    await openSession(opened.store);
    await say(opened.store, 'pay the bill');
    return { real: opened.store, store: troubledStore(opened.store), opened };
  };
  const ended = (real: Store) => until(async () => (await turns(real)).at(-1)?.state === 'done', 'the turn to end');

  for (const code of ['full', 'busy', 'unavailable'] as const) {
    test(`the result of a tool is not forgotten while the store is in passing trouble: ${code}`, async () => {
      const { real, store } = await begin();
      const { run, seen } = payer(() => Object.assign(store.trouble, { writes: 3, code }));
      await using _conversing = converse(store, run);
      await ended(real);
      assert.deepEqual(seen, ['pay the bill']);
      assert.deepEqual(await transcript(real), whole);
      assert.deepEqual(await sent(real), ['I pay it.', 'Done.']);
      assert.deepEqual((await turns(real)).map((turn) => turn.attempts), [1]);
    });
  }

  for (const code of ['EMFILE', 'ENFILE']) {
    test(`a turn that meets the end of open files is tried again, and answered once: ${code}`, async () => {
      const { real, store, opened } = await begin();
      let tries = 0;
      const run: Run = async function* run(_input, signal) {
        tries += 1;
        if (tries === 1) throw Object.assign(new Error(`${code}: too many open files`), { code });
        yield saidBy('assistant', 'Done.');
        yield endOf(signal);
      };
      await using _conversing = converse(store, run);
      await until(async () => tries === 1 && (await isFree(real)), 'the turn to be put down');
      await elapse(opened, 60_000, 'lanes');
      await ended(real);
      assert.deepEqual(await sent(real), ['Done.']);
      assert.deepEqual((await turns(real)).map((turn) => turn.attempts), [1]);
    });
  }

  test('what went through although its confirmation was lost is not written twice', async () => {
    const { real, store } = await begin();
    const lose = (): void => void (store.trouble.confirmations = 1);
    const run: Run = async function* run(input, signal) {
      for (const _again of [1, 2]) {
        lose();
        yield paying('I pay it.');
        lose();
        yield receipt;
        await say(real, 'hurry');
        lose();
        for (const text of await input.steering()) yield saidBy('user', text);
      }
      lose();
      yield saidBy('assistant', 'Done.');
      yield endOf(signal);
    };
    await using conversing = converse(store, run, { policy: policyOf('steer') });
    await ended(real);
    const [asked, said, result, end] = whole;
    assert.deepEqual(await transcript(real), [asked, said, result, 'user: hurry', said, result, 'user: hurry', end]);
    assert.deepEqual(await sent(real), ['I pay it.', 'I pay it.', 'Done.']);
    assert.deepEqual((await turns(real)).map((turn) => turn.attempts), [1]);
    assert.equal(conversing.lines.filter((line) => line.includes('store.write_delayed')).length, 7);
  });

  test('a turn that was begun although the confirmation was lost is gone on with soon, not when its lease has ended', async () => {
    const { real, store } = await begin();
    store.trouble.confirmations = 1;
    const { run, seen } = payer(() => undefined);
    await using _conversing = converse(store, run);
    await ended(real);
    assert.deepEqual(seen, ['pay the bill']);
    assert.deepEqual(await transcript(real), whole);
  });

  test('a look for what people said meanwhile waits for a store that is away', async () => {
    const { real, store } = await begin();
    const run: Run = async function* run(input, signal) {
      store.trouble.reads = Infinity;
      const steering = input.steering();
      await until(() => conversing.lines.some((line) => line.includes('store.write_delayed')), 'the look to fail');
      store.trouble.reads = 0;
      yield saidBy('assistant', `${(await steering).length} more`);
      yield endOf(signal);
    };
    await using conversing = converse(store, run);
    await ended(real);
    assert.deepEqual(await sent(real), ['0 more']);
  });

  test('a question is asked once, and its answer heard, although the store is in trouble meanwhile', async () => {
    const { real, store } = await begin();
    const run: Run = async function* run(input, signal) {
      store.trouble.confirmations = 1;
      const asking = input.ask({ text: 'Really?', options: [], answerer: 'asker', timeoutMs: 600_000 }, { callId: 'c1', index: 0 }, signal);
      const asked = async () => (await real.read((db) => openQuestions(db, { account: 'telegram', chatId: 'chat-1' })))[0];
      await until(async () => (await asked()) !== undefined, 'the question to be asked');
      Object.assign(store.trouble, { reads: 3, writes: 1 });
      const question = (await asked()) ?? assert.fail('nothing was asked');
      await real.write((tx) => answerQuestion(tx, question, { value: 'yes', by: 'user-1' }));
      const answer = await asking;
      yield saidBy('assistant', answer.type === 'answered' ? answer.value : answer.type);
      yield endOf(signal);
    };
    await using _conversing = converse(store, run);
    await ended(real);
    assert.deepEqual((await sent(real)).filter((text) => !text.includes('Really?')), ['yes']);
    assert.equal((await sent(real)).length, 2);
  });

  test('a turn that cannot begin because the store is away is given back as soon as it can be, and that is not held against it', async () => {
    const { real, store, opened } = await begin();
    const { run, seen } = payer(() => undefined);
    let attempts = 0;
    await using _conversing = converse(store, run, {
      typing: () => {
        attempts += 1;
        if (attempts <= 4) Object.assign(store.trouble, { reads: Infinity, writes: 3 });
        return { [Symbol.dispose]: () => undefined };
      },
    });
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await until(async () => attempts === attempt && store.trouble.writes === 0 && (await isFree(real)), `attempt ${attempt} to be put down`);
      store.trouble.reads = 0;
      await elapse(opened, 6_000, 'lanes');
    }
    await ended(real);
    assert.deepEqual(seen, ['pay the bill']);
    assert.deepEqual(await transcript(real), whole);
    assert.deepEqual((await turns(real)).map((turn) => turn.attempts), [1]);
  });
});
