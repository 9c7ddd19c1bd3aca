import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { manualClock } from '../../lib/clock.ts';
import { defaultRetention } from '../retention/retention-limits.ts';
import { prune } from '../retention/retention.ts';
import type { Store } from '../store.ts';
import { newMediaNotes } from './media-notes.ts';

const dayMs = 86_400_000;

const age = (store: Store, key: string, days: number): Promise<unknown> => store.write((tx) => tx.q.updateTable('media_notes').set((eb) => ({ used_at: eb('used_at', '-', days * dayMs) })).where('key', '=', key).execute());

const pruned = async (store: Store): Promise<number | undefined> => (await prune(store, defaultRetention, { clock: manualClock(), signal: new AbortController().signal })).deleted['media_notes'];

eachStore((_engine, open) => {
  test('the first note about a file stays, for every process', async () => {
    const { store, another } = await open();
    const notes = newMediaNotes(store);
    assert.equal(await notes.find('k'), undefined);
    assert.equal(await notes.keep('k', { text: 'first', model: 'm' }), 'first');
    assert.equal(await notes.keep('k', { text: 'second', model: 'm' }), 'first');
    assert.equal(await newMediaNotes(await another()).find('k'), 'first');
    assert.equal(await notes.keep('empty', { text: '', model: 'm' }), '');
    assert.equal(await notes.find('empty'), '');
  });

  test('two that find something out at the same time end up with one note', async () => {
    const { store, another } = await open();
    const kept = await Promise.all([newMediaNotes(store), newMediaNotes(await another())].map((notes, index) => notes.keep('k', { text: `text ${index}`, model: 'm' })));
    assert.equal(new Set(kept).size, 1);
  });

  test('what is asked for now and then is kept, what nobody asks for is forgotten', async () => {
    const { store } = await open();
    const notes = newMediaNotes(store);
    await notes.keep('used', { text: 'a', model: 'm' });
    await notes.keep('unused', { text: 'b', model: 'm' });
    for (const key of ['used', 'unused']) await age(store, key, 181);
    assert.equal(await notes.find('used'), 'a');
    assert.equal(await pruned(store), 1);
    assert.deepEqual([await notes.find('used'), await notes.find('unused')], ['a', undefined]);
  });
});
