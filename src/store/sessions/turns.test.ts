import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../core/transcript.ts';
import { sampleTarget } from '../../../test/support/samples.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { turnLane } from '../lanes/lanes.ts';
import { countAttempt, finishTurn, recordPreview, runningTurns, startTurn, uncountAttempt, unfinishedTurn } from './turns.ts';

const lane = turnLane('s1');

eachStore((_engine, open) => {
  test('an unfinished turn is found again with its address, its preview and how often it was tried', async () => {
    const { store, pass } = await open();
    const target = sampleTarget({ threadId: 't', replyTo: '7' });
    const turn = await store.write((tx) => startTurn(tx, { sessionId: 's1', lane, target }));
    assert.deepEqual({ ...turn, id: 0 }, { id: 0, sessionId: 's1', attempts: 1, target, preview: null });
    await store.write(async (tx) => {
      await countAttempt(tx, turn.id);
      await countAttempt(tx, turn.id);
      await uncountAttempt(tx, turn.id);
      await recordPreview(tx, turn.id, { account: 'telegram', messageId: '8' });
    });
    await pass(5);
    const found = await store.read((db) => unfinishedTurn(db, lane));
    assert.ok(found !== undefined && found.ageMs >= 4);
    assert.deepEqual({ ...found, ageMs: 0 }, { ...turn, attempts: 2, preview: { account: 'telegram', messageId: '8' }, ageMs: 0 });
    assert.equal(await store.read((db) => unfinishedTurn(db, turnLane('s2'))), undefined);
    await store.write((tx) => recordPreview(tx, turn.id, null));
    assert.equal((await store.read((db) => unfinishedTurn(db, lane)))?.preview, null);
  });

  test('a finished turn is not found, keeps its tokens and what it cost, and its attempts no longer change', async () => {
    const { store } = await open();
    const first = await store.write((tx) => startTurn(tx, { sessionId: 's1', lane, target: sampleTarget() }));
    const second = await store.write((tx) => startTurn(tx, { sessionId: 's1', lane, target: sampleTarget() }));
    assert.equal((await store.read((db) => unfinishedTurn(db, lane)))?.id, first.id);
    assert.equal(await store.read(runningTurns), 2);
    const usage = { ...noUsage, inputTokens: 7, outputTokens: 3, cost: { usd: 0.25, status: 'actual' } as const };
    await store.write((tx) => finishTurn(tx, first.id, { state: 'done', reason: 'completed', error: null, model: 'm', usage }));
    await store.write((tx) => uncountAttempt(tx, first.id));
    assert.equal((await store.read((db) => unfinishedTurn(db, lane)))?.id, second.id);
    assert.equal(await store.read(runningTurns), 1);
    const row = await store.read((db) => db.q.selectFrom('turns').selectAll().where('id', '=', first.id).executeTakeFirstOrThrow());
    assert.deepEqual([row.state, row.exit_reason, row.model, row.input_tokens, row.output_tokens, row.cost_usd, row.cost_status, row.attempts], ['done', 'completed', 'm', 7, 3, 0.25, 'actual', 1]);
    assert.ok(row.ended_at !== null && row.ended_at >= row.started_at);
  });
});
