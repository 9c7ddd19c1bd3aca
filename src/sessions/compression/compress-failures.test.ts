import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { CompleteText } from '../../agent/models/complete-text.ts';
import { StoreError } from '../../core/errors.ts';
import { compressionFailure, currentCompression } from '../../store/sessions/compressions.ts';
import { deactivateFrom } from '../../store/sessions/transcripts.ts';
import type { Store } from '../../store/store.ts';
import { compress } from './compress.ts';
import { append, compressionJob, compressionOptions, compressionParts, everything, exchanges, activeIds, factsIn, holdSession, isWellFormed, load, never, newFactKeeper, textOf, windowTokens } from './compression.test-support.ts';

eachStore((_engine, open) => {
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
});
