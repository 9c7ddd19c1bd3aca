import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { Reading, Store } from '../store/store.ts';
import { createSession } from '../store/sessions.ts';
import { appendMessage } from '../store/transcripts.ts';
import { loadContext } from './load-context.ts';

const session = { agent: 'main', account: 'telegram', chatType: 'dm' } as const;

const talk = async (store: Store, id: string, exchanges: number): Promise<void> =>
  store.write(async (tx) => {
    await createSession(tx, { id, ...session });
    for (let i = 1; i <= exchanges; i += 1) {
      await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'user', content: `question ${i}` });
      await appendMessage(tx, { sessionId: id, turnId: null }, { role: 'assistant', content: `answer ${i}` });
    }
  });

/** The same store, counting how often it is read. */
const counting = (store: Store): { readonly store: Store; reads(): number } => {
  let reads = 0;
  const read = <T>(work: (reading: Reading) => Promise<T>): Promise<T> => {
    reads += 1;
    return store.read(work);
  };
  return { store: { engine: store.engine, read, write: (work) => store.write(work), listen: (...args) => store.listen(...args), close: () => store.close() }, reads: () => reads };
};

eachStore((_engine, open) => {
  test('a short conversation is shown whole, in order', async () => {
    const { store } = await open();
    await talk(store, 's', 2);
    const rows = await loadContext(store, 's', { fixedBytes: 0 });
    assert.deepEqual(rows.map((row) => row.content), ['question 1', 'answer 1', 'question 2', 'answer 2']);
  });

  test('however long a conversation is, as much is read of it, and what is shown ends with the newest', async () => {
    const { store } = await open();
    await talk(store, 'long', 150);
    await talk(store, 'longer', 600);
    const counts: number[] = [];
    for (const id of ['long', 'longer']) {
      const counted = counting(store);
      const rows = await loadContext(counted.store, id, { fixedBytes: 0 });
      counts.push(counted.reads());
      assert.equal(rows.length, 120);
      assert.equal(rows[0]?.role, 'user');
      assert.equal(rows.at(-1)?.content, id === 'long' ? 'answer 150' : 'answer 600');
    }
    assert.equal(counts[0], counts[1]);
  });

  test('a small model sees the newest whole exchanges that fit', async () => {
    const { store } = await open();
    await talk(store, 's', 50);
    const rows = await loadContext(store, 's', { contextTokens: 1200, outputTokens: 600, fixedBytes: 0 });
    assert.ok(rows.length > 0 && rows.length < 100);
    assert.equal(rows[0]?.role, 'user');
    assert.equal(rows.at(-1)?.content, 'answer 50');
  });
});
