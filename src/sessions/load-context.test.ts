import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../test/support/stores.ts';
import type { Reading, Store } from '../store/store.ts';
import { createSession } from '../store/sessions/sessions.ts';
import { appendMessage } from '../store/sessions/transcripts.ts';
import { insertCompression } from '../store/sessions/compressions.ts';
import { archiveMessages, clearResults } from '../store/sessions/archive.ts';
import { newestMessages } from '../store/sessions/transcripts.ts';
import { clearedResult } from './compression/shown-message.ts';
import { mostMessages, readContext } from './load-context.ts';

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
  return { store: { engine: store.engine, read, write: (work) => store.write(work), listen: (...args) => store.listen(...args), tidy: () => store.tidy(), emptyLog: (patienceMs) => store.emptyLog(patienceMs), close: () => store.close() }, reads: () => reads };
};

const room = { fixedTokens: 100, budgetTokens: 100_000 };

eachStore((_engine, open) => {
  test('a short conversation is shown whole, in order', async () => {
    const { store } = await open();
    await talk(store, 's', 2);
    const { transcript, whole, messages } = await readContext(store, 's', room);
    assert.deepEqual([whole, messages], [true, 4]);
    assert.deepEqual(transcript.map((row) => row.content), ['question 1', 'answer 1', 'question 2', 'answer 2']);
  });

  // Thousands of rows, one by one, take long on a slow machine.
  test('however long a conversation is, as much is read of it, and what is shown ends with the newest', { timeout: 600_000 }, async () => {
    const { store } = await open();
    await talk(store, 'long', 1060);
    await talk(store, 'longer', 1120);
    const counts: number[] = [];
    for (const id of ['long', 'longer']) {
      const counted = counting(store);
      const { transcript, whole } = await readContext(counted.store, id, { ...room, budgetTokens: 1_000_000 });
      counts.push(counted.reads());
      assert.ok(transcript.length >= mostMessages && transcript.length < mostMessages + 400);
      assert.equal(whole, false);
      assert.equal(transcript[0]?.role, 'user');
      assert.equal(transcript.at(-1)?.content, id === 'long' ? 'answer 1060' : 'answer 1120');
    }
    assert.equal(counts[0], counts[1]);
  });

  test('a small model sees the newest whole exchanges that fit', async () => {
    const { store } = await open();
    await talk(store, 's', 50);
    const { transcript, whole, tokens } = await readContext(store, 's', { fixedTokens: 100, budgetTokens: 600 });
    assert.ok(transcript.length > 0 && transcript.length < 100 && !whole);
    assert.ok(tokens > 600 && tokens <= 700);
    assert.equal(transcript[0]?.role, 'user');
    assert.equal(transcript.at(-1)?.content, 'answer 50');
  });

  test('a summary stands where what it speaks for stood, and is counted', async () => {
    const { store } = await open();
    await talk(store, 's', 5);
    const plain = await readContext(store, 's', room);
    const ids = (await store.read((db) => newestMessages(db, 's', { limit: 100 }))).map((row) => row.id).toReversed();
    await store.write(async (tx) => {
      const stretch = { afterId: ids[1] ?? 0, throughId: ids[7] ?? 0, keepIds: [ids[4] ?? 0] };
      const compressionId = await insertCompression(tx, 's', { summary: 'x'.repeat(4000), headThroughId: stretch.afterId, throughId: stretch.throughId, messages: 5, tokensBefore: 1, tokensAfter: 1, cause: 'threshold', how: 'model', model: null });
      assert.equal(await archiveMessages(tx, 's', { ...stretch, compressionId }), 5);
    });
    const { transcript, messages, tokens } = await readContext(store, 's', room);
    assert.deepEqual(transcript.map((row) => (row.content.includes('xxx') ? 'summary' : row.content)), ['question 1', 'answer 1', 'question 3', 'summary', 'question 5', 'answer 5']);
    assert.match(transcript[3]?.content ?? '', /^\[Earlier conversation, summarised\. For reference only[\s\S]*x\n\n\[End of the summary\./);
    assert.equal(messages, 5);
    assert.ok(tokens > plain.tokens + 900);
    const tight = await readContext(store, 's', { fixedTokens: 0, budgetTokens: tokens - room.fixedTokens - 30 });
    assert.deepEqual(tight.transcript.map((row) => row.content.includes('xxx')), [true, false, false], 'the summary has its room before older messages have theirs');
  });

  test('what the model counted is believed, and only what was said later is estimated', async () => {
    const { store } = await open();
    await talk(store, 's', 4);
    const ids = (await store.read((db) => newestMessages(db, 's', { limit: 100 }))).map((row) => row.id).toReversed();
    const estimated = await readContext(store, 's', room);
    assert.equal(estimated.tokens, estimated.estimatedTokens);
    assert.equal(estimated.tokens, 100 + 4 * (13 + 12));
    const counted = await readContext(store, 's', { ...room, prompt: { tokens: 5000, throughId: ids[5] ?? 0 } });
    assert.deepEqual([counted.tokens, counted.estimatedTokens], [5000 + 13 + 12, estimated.tokens]);
    assert.equal((await readContext(store, 's', { ...room, prompt: { tokens: 1, throughId: ids[7] ?? 0 } })).tokens, estimated.tokens);
  });

  test('a result that was cleared says so to the model, and is kept', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await createSession(tx, { id: 's', ...session });
      const to = { sessionId: 's', turnId: null };
      await appendMessage(tx, to, { role: 'user', content: 'look' });
      await appendMessage(tx, to, { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read_file', arguments: '{}' }] });
      const id = await appendMessage(tx, to, { role: 'tool', content: 'line\n'.repeat(1000), toolCallId: 'c', toolName: 'read_file' });
      assert.equal(await clearResults(tx, 's', { afterId: 0, throughId: id, keepIds: [], overBytes: 200, sizeBytes: 120 }), 1);
    });
    const { transcript, tokens } = await readContext(store, 's', room);
    assert.deepEqual(transcript.at(-1), { role: 'tool', content: clearedResult, toolCallId: 'c', toolName: 'read_file' });
    assert.ok(tokens < 250);
    const [stored] = await store.read((db) => newestMessages(db, 's', { limit: 1 }));
    assert.equal(stored?.message.content.length, 5000);
  });
});
