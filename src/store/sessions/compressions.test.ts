import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Store } from '../store.ts';
import { compressionFailure, countCompressions, currentCompression, dropCurrentCompression, forgetCompressionFailures, insertCompression, noteCompressionFailure } from './compressions.ts';
import type { NewCompression } from './compressions.ts';

const summary = (text: string): NewCompression => ({ summary: text, headThroughId: 2, throughId: 9, messages: 7, tokensBefore: 900, tokensAfter: 100, cause: 'threshold', how: 'model', model: 'm' });

const insert = (store: Store, sessionId: string, text: string): Promise<number> => store.write((tx) => insertCompression(tx, sessionId, summary(text)));

const current = async (store: Store, sessionId: string): Promise<string | undefined> => (await store.read((db) => currentCompression(db, sessionId)))?.summary;

eachStore((_engine, open) => {
  test('the newest summary is in force, each conversation has its own, and none is deleted', async () => {
    const { store } = await open();
    assert.equal(await current(store, 's1'), undefined);
    await insert(store, 's1', 'one');
    const id = await insert(store, 's1', 'two');
    await insert(store, 's2', 'other');
    const found = await store.read((db) => currentCompression(db, 's1'));
    assert.deepEqual({ ...found, createdAtMs: 0 }, { ...summary('two'), id, createdAtMs: 0 });
    assert.equal(await store.read((db) => countCompressions(db, 's1')), 2);
    const kept = await store.read((db) => db.q.selectFrom('compressions').select(['summary', 'state']).where('session_id', '=', 's1').orderBy('id').execute());
    assert.deepEqual(kept.map((row) => [row.summary, row.state]), [['one', 'superseded'], ['two', 'current']]);
  });

  test('dropping a summary puts the one before it back into force', async () => {
    const { store } = await open();
    for (const text of ['one', 'two', 'three']) await insert(store, 's1', text);
    await insert(store, 's2', 'other');
    const seen: (string | undefined)[] = [];
    for (let i = 0; i < 4; i += 1) {
      await store.write((tx) => dropCurrentCompression(tx, 's1'));
      seen.push(await current(store, 's1'));
    }
    assert.deepEqual(seen, ['two', 'one', undefined, undefined]);
    assert.equal(await current(store, 's2'), 'other');
    assert.equal(await store.read((db) => countCompressions(db, 's1')), 0);
  });

  test('each failure in a row rests longer, up to the last step, until one succeeds', async () => {
    const { store } = await open();
    const rests: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      await store.write((tx) => noteCompressionFailure(tx, 's1', { error: `failure ${i + 1}`, ladderMs: [60_000, 300_000, 900_000] }));
      const failure = await store.read((db) => compressionFailure(db, 's1'));
      assert.deepEqual([failure?.failures, failure?.error], [i + 1, `failure ${i + 1}`]);
      rests.push(Math.round((failure?.waitMs ?? 0) / 10_000) * 10);
    }
    assert.deepEqual(rests, [60, 300, 900, 900]);
    assert.equal(await store.read((db) => compressionFailure(db, 's2')), undefined);
    await store.write((tx) => forgetCompressionFailures(tx, 's1'));
    assert.equal(await store.read((db) => compressionFailure(db, 's1')), undefined);
  });
});
