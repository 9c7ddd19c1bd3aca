import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { alternate } from '../../agent/alternation.ts';
import type { CompleteText } from '../../agent/models/complete-text.ts';
import { StoreError } from '../../core/errors.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { compressionFailure, countCompressions, currentCompression } from '../../store/compressions.ts';
import { findSession } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import { deactivateFrom, newestMessages, pageOfMessages } from '../../store/transcripts.ts';
import { readContext } from '../load-context.ts';
import type { LoadedContext } from '../load-context.ts';
import { compress } from './compress.ts';
import { append, compressionJob, compressionOptions, compressionParts, exchanges, factsIn, holdSession, never, newFactKeeper, toolRound } from './compression.test-support.ts';
import type { CompressedFacts } from './job.ts';

/** Sixteen thousand tokens: half for the answer, three quarters of the rest before anything happens. */
const windowTokens = 16_000;

const load = (store: Store): Promise<LoadedContext> => readContext(store, 's', { fixedTokens: 0, budgetTokens: 100_000 });

const textOf = (rows: readonly TranscriptMessage[]): string => rows.map((row) => row.content).join('\n');

const everything = async (store: Store): Promise<readonly string[]> =>
  (await store.read((db) => pageOfMessages(db, 's', { afterId: 0, limit: 100_000, activeOnly: false }))).map((row) => `${row.id} ${row.message.content}`);

const activeIds = async (store: Store): Promise<readonly number[]> => (await store.read((db) => newestMessages(db, 's', { limit: 10_000 }))).map((row) => row.id);

/** No result without its call and no call without its results, and roles that take turns. */
const isWellFormed = (rows: readonly TranscriptMessage[]): void => {
  const sent = alternate(rows);
  const results = (list: readonly TranscriptMessage[]): readonly string[] => list.flatMap((row) => (row.role === 'tool' ? [row.content] : []));
  assert.deepEqual(results(sent), results(rows));
  const asked = rows.flatMap((row) => (row.toolCalls ?? []).map((call) => call.id));
  assert.deepEqual(asked, rows.flatMap((row) => row.toolCallId ?? []));
};

eachStore((engine, open) => {
  test('the middle gives way to a summary: beginning and newest part stay, the facts too, and nothing is deleted', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, [...exchanges(80), { role: 'user', content: 'And now?' }]);
    const stored = await everything(store);
    const events: CompressedFacts[] = [];
    const keeper = newFactKeeper();
    const result = await compress(compressionParts(store, keeper, { onCompressed: (facts) => void events.push(facts) }), compressionJob(claim, windowTokens), never);
    assert.equal(result.end, 'compressed');
    assert.ok(result.after.tokens < result.before.tokens / 3);
    const { transcript, messages } = await load(store);
    assert.equal(messages, result.after.messages);
    assert.deepEqual(transcript.slice(0, 2).map((row) => row.content.slice(0, 11)), ['Question 1.', 'Answer 1. w']);
    assert.equal(transcript.at(-1)?.content, 'And now?');
    assert.ok(messages >= 20 && messages < 40);
    assert.deepEqual(factsIn(textOf(transcript)), [10, 20, 30, 40, 50, 60, 70, 80].map((n) => `FACT-${n}`));
    isWellFormed(transcript);
    assert.deepEqual(await everything(store), stored);
    assert.deepEqual(events.map(({ sessionId, cause, count }) => [sessionId, cause, count]), [['s', 'threshold', 1]]);
    const prompt = (await store.read((db) => findSession(db, 's')))?.prompt;
    assert.equal(prompt?.tokens, result.after.tokens, 'the next turn starts from what is left');
  });

  test('a later summary brings the earlier one up to date', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const keeper = newFactKeeper();
    const parts = compressionParts(store, keeper);
    await append(store, exchanges(80));
    await compress(parts, compressionJob(claim, windowTokens), never);
    await append(store, exchanges(80, 81));
    await compress(parts, compressionJob(claim, windowTokens), never);
    assert.match(keeper.requests.at(-1)?.prompt ?? '', /^<notes>\n## To remember exactly\nFACT-10/);
    assert.equal(factsIn(textOf((await load(store)).transcript)).length, 16);
    assert.equal(await store.read((db) => countCompressions(db, 's')), 2);
    assert.deepEqual((await load(store)).transcript.slice(0, 2).map((row) => row.content.slice(0, 11)), ['Question 1.', 'Answer 1. w']);
  });

  test('a conversation that is short enough is left alone, by a person’s wish too when there is nothing to gain', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello' }]);
    const keeper = newFactKeeper();
    const result = await compress(compressionParts(store, keeper), compressionJob(claim, windowTokens, { cause: 'request' }), never);
    assert.deepEqual([result.end, keeper.requests.length], ['nothing', 0]);
  });

  test('secrets are gone before the summariser reads and after it wrote', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, [...exchanges(3), { role: 'user', content: 'my key is sk-abc123' }, ...exchanges(80)]);
    const keeper = newFactKeeper((facts) => `${facts.join(' ')} and sk-invented`);
    await compress(compressionParts(store, keeper), compressionJob(claim, windowTokens), never);
    assert.doesNotMatch(keeper.requests.map((request) => request.prompt).join(), /sk-abc123/);
    assert.match((await store.read((db) => currentCompression(db, 's')))?.summary ?? '', /and \*\*\*/);
  });

  test('where old results of tools are the weight, they are cleared and nobody is asked', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, [...exchanges(2), ...Array.from({ length: 10 }, (_, i) => [{ role: 'user' as const, content: `file ${i}` }, ...toolRound(`c${i}`, 4000), { role: 'assistant' as const, content: `done ${i}` }]).flat(), ...exchanges(10)]);
    const stored = await everything(store);
    const keeper = newFactKeeper();
    const result = await compress(compressionParts(store, keeper), compressionJob(claim, windowTokens), never);
    assert.deepEqual([result.end, keeper.requests.length, result.after.messages], ['compressed', 0, result.before.messages]);
    const { transcript } = await load(store);
    assert.equal(transcript.filter((row) => row.content.startsWith('[This old result was removed')).length, 10);
    isWellFormed(transcript);
    assert.deepEqual(await everything(store), stored);
  });

  test('calls stay with their results, and so does the list of tasks that the agent works through', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const todo = toolRound('todo-1', 300, 'todo');
    const work = Array.from({ length: 60 }, (_, i) => toolRound(`c${i}`, 900)).flat();
    await append(store, [...exchanges(20), { role: 'user', content: 'Do all of it. FACT-task' }, ...todo, ...work]);
    await compress(compressionParts(store, newFactKeeper()), compressionJob(claim, windowTokens), never);
    const { transcript } = await load(store);
    isWellFormed(transcript);
    const at = (text: string): number => transcript.findIndex((row) => row.content.includes(text) && !row.content.startsWith('[Earlier'));
    assert.ok(at('Do all of it') > 0 && at('Do all of it') < at('todo-1 x'));
    assert.ok(at('todo-1 x') < transcript.findIndex((row) => row.content.startsWith('[Earlier conversation')));
    assert.equal(transcript.at(-1)?.toolCallId, 'c59');
    assert.ok(transcript.length < 60);
  });

  test('a conversation far over its window is taken in pieces that each fit the summariser, and each is safe once it is done', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(600));
    const keeper = newFactKeeper();
    const controller = new AbortController();
    let calls = 0;
    keeper.during(async () => void ((calls += 1) === 3 && controller.abort()));
    const parts = compressionParts(store, keeper);
    const cut = await compress(parts, compressionJob(claim, 8_000), controller.signal);
    assert.equal(cut.end, 'compressed', 'two pieces were done when it was aborted');
    const half = await load(store);
    assert.ok(half.messages > 100 && half.messages < 1200);
    const result = await compress(parts, compressionJob(claim, 8_000), never);
    assert.equal(result.end, 'compressed');
    assert.ok(result.after.tokens < 3_000);
    for (const { prompt } of keeper.requests) assert.ok(Buffer.byteLength(prompt) < 8_000 * 4, String(Buffer.byteLength(prompt)));
    assert.ok(keeper.requests.length > 8);
    assert.equal(factsIn(textOf((await load(store)).transcript)).length, 60);
    assert.equal((await everything(store)).length, 1200);
  });

  test('a summariser that finds a piece too long gets a smaller one', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(80));
    const keeper = newFactKeeper();
    keeper.failNext('context_overflow');
    const result = await compress(compressionParts(store, keeper), compressionJob(claim, windowTokens), never);
    assert.equal(result.end, 'compressed');
    const [first, second] = keeper.requests.map((request) => request.prompt.length);
    assert.ok((second ?? 0) < (first ?? 0));
    assert.equal(factsIn(textOf((await load(store)).transcript)).length, 8);
  });

  test('a key that is refused or a model that is busy leaves everything as it was, and it is not tried again at once', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(200));
    const before = await activeIds(store);
    const keeper = newFactKeeper();
    const parts = compressionParts(store, keeper);
    for (const code of ['auth', 'overloaded'] as const) {
      keeper.failNext(code);
      assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'failed');
      assert.deepEqual(await activeIds(store), before);
      const asked = keeper.requests.length;
      assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'resting');
      assert.equal(keeper.requests.length, asked);
      await store.write((tx) => tx.q.updateTable('compression_failures').set({ retry_at: 0 }).execute());
    }
    assert.equal((await store.read((db) => compressionFailure(db, 's')))?.failures, 2);
    assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'compressed');
    assert.equal(await store.read((db) => compressionFailure(db, 's')), undefined);
  });

  test('a model that breaks is waited for while the conversation fits, and done without once it does not or has failed too often', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(70));
    const keeper = newFactKeeper();
    const parts = compressionParts(store, keeper);
    for (let i = 0; i < 3; i += 1) {
      keeper.failNext('server_error');
      const result = await compress(parts, compressionJob(claim, windowTokens), never);
      assert.deepEqual([result.end, result.error], ['failed', 'The model had an internal error. Please try again.']);
      await store.write((tx) => tx.q.updateTable('compression_failures').set({ retry_at: 0 }).execute());
    }
    keeper.failNext('server_error');
    assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'compressed');
    const current = await store.read((db) => currentCompression(db, 's'));
    assert.equal(current?.how, 'static');
    assert.match(current?.summary ?? '', /this is only a list[\s\S]*## What people wrote[\s\S]*Question 5\d/);
    await append(store, exchanges(300, 81));
    await store.write((tx) => tx.q.deleteFrom('compression_failures').execute());
    keeper.failNext('server_error');
    const asked = keeper.requests.length;
    assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'compressed');
    assert.equal(keeper.requests.length, asked + 1, 'a model that has just failed is not asked for the other pieces');
    assert.ok((await load(store)).tokens < 7_000);
    const strict = compressionParts(store, keeper, { options: compressionOptions({ abort_on_summary_failure: true }) });
    await append(store, exchanges(300, 400));
    await store.write((tx) => tx.q.deleteFrom('compression_failures').execute());
    keeper.failNext('server_error');
    assert.equal((await compress(strict, compressionJob(claim, windowTokens), never)).end, 'failed');
  });

  test('a summary that is no shorter is not used, and it is said that nothing can be gained', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(4));
    const before = await activeIds(store);
    const keeper = newFactKeeper(() => 'blah '.repeat(20_000));
    const parts = compressionParts(store, keeper);
    assert.equal((await compress(parts, compressionJob(claim, windowTokens, { cause: 'request' }), never)).end, 'nothing');
    assert.deepEqual([await activeIds(store), keeper.requests.length], [before, 1]);
    await append(store, [{ role: 'user', content: 'x'.repeat(60_000) }]);
    const result = await compress(parts, compressionJob(claim, windowTokens), never);
    assert.match(result.error ?? '', /Nothing more can be gained/);
    assert.equal((await store.read((db) => compressionFailure(db, 's')))?.failures, 1);
    assert.equal((await compress(parts, compressionJob(claim, windowTokens), never)).end, 'resting');
  });

  test('an abort while the model is at work changes nothing', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(80));
    const before = await activeIds(store);
    const controller = new AbortController();
    const keeper = newFactKeeper();
    keeper.during(async () => controller.abort());
    assert.equal((await compress(compressionParts(store, keeper), compressionJob(claim, windowTokens), controller.signal)).end, 'aborted');
    const late = new AbortController();
    const complete: CompleteText = async (request) => {
      late.abort();
      return newFactKeeper().complete(request, never);
    };
    assert.equal((await compress(compressionParts(store, keeper, { complete }), compressionJob(claim, windowTokens), late.signal)).end, 'aborted');
    assert.deepEqual(await activeIds(store), before);
    assert.equal(await store.read((db) => compressionFailure(db, 's')), undefined);
  });

  test('somebody who has lost the lane cannot write, and what was changed meanwhile is not overwritten', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    const ids = await append(store, exchanges(80));
    const lost = newFactKeeper();
    lost.during(() => store.write((tx) => tx.q.updateTable('lanes').set((eb) => ({ fence: eb('fence', '+', 1) })).execute()));
    await assert.rejects(compress(compressionParts(store, lost), compressionJob(claim, windowTokens), never), { code: 'lane_lost' });
    assert.equal((await activeIds(store)).length, 160);
    await store.write((tx) => tx.q.updateTable('lanes').set({ fence: claim.fence }).execute());
    const undone = newFactKeeper();
    let first = true;
    undone.during(async () => {
      if (first) await store.write((tx) => deactivateFrom(tx, 's', ids[100] ?? 0));
      first = false;
    });
    const result = await compress(compressionParts(store, undone), compressionJob(claim, windowTokens), never);
    assert.notEqual(result.end, 'failed');
    const active = await activeIds(store);
    assert.ok(active.every((id) => id < (ids[100] ?? 0)));
    const { transcript } = await load(store);
    isWellFormed(transcript);
    assert.deepEqual(factsIn(textOf(transcript)), ['FACT-10', 'FACT-20', 'FACT-30', 'FACT-40', 'FACT-50'], 'what was taken back is not in the summary');
  });

  test('a process that ends at any write leaves the conversation as it was or shorter, never in between', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(200));
    const stored = await everything(store);
    let last = await load(store);
    for (let crashAt = 1; ; crashAt += 1) {
      let writes = 0;
      const dying: Store = {
        engine: store.engine,
        read: (work) => store.read(work),
        write: (work) =>
          store.write(async (tx) => {
            const value = await work(tx);
            writes += 1;
            if (writes === crashAt) throw new StoreError('failed', 'the process ended before the commit');
            return value;
          }),
        listen: (...args) => store.listen(...args),
        tidy: () => store.tidy(),
        emptyLog: (patienceMs) => store.emptyLog(patienceMs),
        close: () => store.close(),
      };
      const job = compressionJob(claim, 8_000);
      const ended = await compress(compressionParts(dying, newFactKeeper()), job, never).then(
        (result) => result.end,
        (error: unknown) => (error instanceof StoreError ? 'crashed' : Promise.reject(error as Error)),
      );
      const now = await load(store);
      isWellFormed(now.transcript);
      assert.equal(factsIn(textOf(now.transcript)).length, 20);
      assert.ok(now.messages <= last.messages);
      assert.deepEqual(await everything(store), stored);
      last = now;
      if (ended !== 'crashed') break;
    }
    assert.ok(last.tokens < 3_000);
  });

  test('somebody who asks gets what they ask for: a focus for the summary, or exactly the last exchanges', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(12));
    const keeper = newFactKeeper();
    const parts = compressionParts(store, keeper);
    await compress(parts, compressionJob(claim, windowTokens, { cause: 'request', keepExchanges: 3 }), never);
    assert.deepEqual((await load(store)).transcript.filter((row) => row.role === 'user').map((row) => row.content.slice(0, 12)), ['Question 1. ', '[Earlier con', 'Question 10.', 'Question 11.', 'Question 12.']);
    await append(store, exchanges(12, 13));
    const result = await compress(parts, compressionJob(claim, windowTokens, { cause: 'request', focus: 'the "invoice"' }), never);
    assert.equal(result.end, 'compressed');
    assert.match(keeper.requests.at(-1)?.prompt ?? '', /have to serve this: "the \\"invoice\\""/);
    keeper.failNext('server_error');
    await append(store, exchanges(12, 30));
    assert.equal((await compress(parts, compressionJob(claim, windowTokens, { cause: 'request' }), never)).end, 'failed');
    assert.equal(await store.read((db) => compressionFailure(db, 's')), undefined, 'a wish that fails keeps nobody from asking again');
  });

  test('when the newest results alone are too large for the model, it gets their beginning and end', async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, [{ role: 'user', content: 'Read it.' }, ...toolRound('big', 60_000)]);
    const result = await compress(compressionParts(store, newFactKeeper()), compressionJob(claim, windowTokens, { cause: 'overflow' }), never);
    assert.equal(result.end, 'compressed');
    const { transcript, tokens } = await load(store);
    assert.ok(tokens < 6_000);
    assert.match(transcript.at(-1)?.content ?? '', /^big x[\s\S]*characters left out[\s\S]*x$/);
    assert.ok(((await everything(store)).at(-1)?.length ?? 0) > 60_000);
  });

  test('messages are counted too: many short ones are summarised although they weigh little', { skip: engine === 'postgres' && 'the same on both' }, async () => {
    const { store } = await open();
    const claim = await holdSession(store);
    await append(store, exchanges(40));
    const options = compressionOptions({ max_messages: 50 });
    const result = await compress(compressionParts(store, newFactKeeper(), { options }), compressionJob(claim, 128_000, { options }), never);
    assert.equal(result.end, 'compressed');
    assert.ok(result.after.messages <= 50);
  });
});
