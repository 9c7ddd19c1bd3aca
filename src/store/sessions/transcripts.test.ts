import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageSizeBytes } from '../../core/transcript.ts';
import type { TranscriptMessage } from '../../core/transcript.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { createSession, expectPrompt, findSession } from './sessions.ts';
import type { Store } from '../store.ts';
import { archiveMessages } from './archive.ts';
import type { Stretch } from './archive.ts';
import { currentCompression, insertCompression } from './compressions.ts';
import { appendMessage, copyMessages, deactivateFrom, lastUserMessage, newestMessages, newestResultOf, newestSaid, newestSketches, oldestSketches, pageOfMessages } from './transcripts.ts';

const create = (store: Store, id: string): Promise<void> => store.write((tx) => createSession(tx, { id, agent: 'main', account: 'telegram', chatType: 'dm' }));

const append = (store: Store, sessionId: string, messages: readonly TranscriptMessage[]): Promise<number[]> =>
  store.write(async (tx) => {
    const ids: number[] = [];
    for (const message of messages) ids.push(await appendMessage(tx, { sessionId, turnId: null }, message));
    return ids;
  });

const said = (count: number, first = 1): TranscriptMessage[] => Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: String(first + i) }));

const newest = async (store: Store, sessionId: string, page: Parameters<typeof newestMessages>[2] = { limit: 100 }): Promise<string[]> =>
  (await store.read((db) => newestMessages(db, sessionId, page))).map((stored) => stored.message.content);

const at = (ids: readonly number[], index: number): number => ids[index] ?? assert.fail(`there is no message ${index}`);

/** Puts a summary in the place of a stretch. */
const summarise = (store: Store, sessionId: string, stretch: Stretch): Promise<number> =>
  store.write(async (tx) => {
    const compressionId = await insertCompression(tx, sessionId, { summary: 'what was said', headThroughId: stretch.afterId, throughId: stretch.throughId, messages: 0, tokensBefore: 2, tokensAfter: 1, cause: 'request', how: 'model', model: null });
    return archiveMessages(tx, sessionId, { ...stretch, compressionId });
  });

eachStore((_engine, open) => {
  test('a row comes back with everything it had', async () => {
    const { store } = await open();
    await create(store, 's1');
    const message: TranscriptMessage = {
      role: 'assistant',
      content: 'Ich schaue nach… 你好',
      toolCalls: [{ id: 'c1', name: 'terminal', arguments: '{"command":"ls"}' }],
      reasoning: 'hm',
      finishReason: 'tool_calls',
      attachments: [{ kind: 'photo', mime: 'image/png', name: 'a.png', path: 'x/a.png' }],
    };
    const [id] = await append(store, 's1', [message, { role: 'tool', content: 'output\0with nul', toolCallId: 'c1', toolName: 'terminal' }]);
    const rows = await store.read((db) => newestMessages(db, 's1', { limit: 10 }));
    assert.equal(rows[1]?.id, id);
    assert.deepEqual(rows[1]?.message, message);
    assert.equal(rows[1]?.sizeBytes, messageSizeBytes(message));
    assert.deepEqual(rows[0]?.message, { role: 'tool', content: 'output\uFFFDwith nul', toolCallId: 'c1', toolName: 'terminal' });
    const session = await store.read((db) => findSession(db, 's1'));
    assert.equal(session?.messageCount, 2);
  });

  test('the newest page comes first, the one before it follows, and other conversations stay out', async () => {
    const { store } = await open();
    for (const id of ['s1', 's2']) await create(store, id);
    await append(store, 's1', said(4));
    await append(store, 's2', said(3, 100));
    await append(store, 's1', said(3, 5));
    assert.deepEqual(await newest(store, 's1', { limit: 3 }), ['7', '6', '5']);
    const page = await store.read((db) => newestMessages(db, 's1', { limit: 3 }));
    assert.deepEqual(await newest(store, 's1', { limit: 3, beforeId: page.at(-1)?.id ?? 0 }), ['4', '3', '2']);
    assert.deepEqual(await newest(store, 's3'), []);
  });

  test('an undone exchange is out of sight but not gone', async () => {
    const { store } = await open();
    await create(store, 's1');
    await create(store, 's2');
    await append(store, 's1', said(4));
    await append(store, 's2', said(2));
    const last = await store.read((db) => lastUserMessage(db, 's1'));
    assert.equal(last?.message.content, '3');
    assert.equal((await store.read((db) => lastUserMessage(db, 's1', last?.id)))?.message.content, '1');
    assert.equal(await store.write((tx) => deactivateFrom(tx, 's1', last?.id ?? 0)), 2);
    assert.equal(await store.write((tx) => deactivateFrom(tx, 's1', last?.id ?? 0)), 0);
    assert.deepEqual(await newest(store, 's1'), ['2', '1']);
    assert.deepEqual(await newest(store, 's2'), ['2', '1']);
    await append(store, 's1', said(1, 9));
    const everything = await store.read((db) => pageOfMessages(db, 's1', { afterId: 0, limit: 10, activeOnly: false }));
    assert.deepEqual(everything.map((stored) => [stored.message.content, stored.active]), [['1', true], ['2', true], ['3', false], ['4', false], ['9', true]]);
    assert.equal((await store.read((db) => lastUserMessage(db, 's1')))?.message.content, '9');
  });

  test('pages for an export follow each other without gaps, whatever was undone', async () => {
    const { store } = await open();
    await create(store, 's1');
    const ids = await append(store, 's1', said(10));
    await store.write((tx) => deactivateFrom(tx, 's1', ids[6] ?? 0));
    await append(store, 's1', said(5, 11));
    for (const activeOnly of [true, false]) {
      const seen: string[] = [];
      let afterId = 0;
      for (;;) {
        const page = await store.read((db) => pageOfMessages(db, 's1', { afterId, limit: 4, activeOnly }));
        seen.push(...page.map((stored) => stored.message.content));
        if (page.length < 4) break;
        afterId = page.at(-1)?.id ?? 0;
      }
      const expected = Array.from({ length: 15 }, (_, i) => String(i + 1)).filter((text) => !activeOnly || Number(text) <= 6 || Number(text) > 10);
      assert.deepEqual(seen, expected);
    }
  });

  test('a copy has what the model sees, in order, and lives on its own', async () => {
    const { store } = await open();
    for (const id of ['s1', 's2']) await create(store, id);
    const ids = await append(store, 's1', said(560));
    await store.write((tx) => deactivateFrom(tx, 's1', ids[540] ?? 0));
    assert.equal(await store.write((tx) => copyMessages(tx, 's1', 's2')), 540);
    assert.deepEqual((await newest(store, 's2', { limit: 2000 })).toReversed(), Array.from({ length: 540 }, (_, i) => String(i + 1)));
    await append(store, 's1', said(1, 5000));
    assert.deepEqual(await newest(store, 's2', { limit: 1 }), ['540']);
  });

  test('what a summary speaks for is out of the model’s sight, and people still find it', async () => {
    const { store } = await open();
    await create(store, 's1');
    const ids = await append(store, 's1', said(10));
    await summarise(store, 's1', { afterId: at(ids, 1), throughId: at(ids, 6), keepIds: [at(ids, 4)] });
    assert.deepEqual(await newest(store, 's1'), ['10', '9', '8', '5', '2', '1']);
    assert.deepEqual((await store.read((db) => newestSaid(db, 's1', 6))).map((row) => [row.message.content, row.archived]), [['10', false], ['9', false], ['8', false], ['7', true], ['6', true], ['5', false]]);
    const everything = await store.read((db) => pageOfMessages(db, 's1', { afterId: 0, limit: 100, activeOnly: false }));
    assert.deepEqual(everything.map((row) => row.message.content), said(10).map((message) => message.content));
    assert.deepEqual((await store.read((db) => newestSketches(db, 's1', { limit: 2, beforeId: at(ids, 8) }))).map((row) => row.id), [at(ids, 7), at(ids, 4)]);
    assert.deepEqual((await store.read((db) => oldestSketches(db, 's1', 2))).map((row) => [row.id, row.role]), [[at(ids, 0), 'user'], [at(ids, 1), 'assistant']]);
  });

  test('exchanges are not counted beyond a summary', async () => {
    const { store } = await open();
    await create(store, 's1');
    const ids = await append(store, 's1', said(8));
    await summarise(store, 's1', { afterId: at(ids, 1), throughId: at(ids, 5), keepIds: [] });
    const last = await store.read((db) => lastUserMessage(db, 's1'));
    assert.equal(last?.message.content, '7');
    assert.equal(await store.read((db) => lastUserMessage(db, 's1', last?.id)), undefined);
  });

  test('taking back something that a summary speaks for brings back what came before it', async () => {
    const { store } = await open();
    await create(store, 's1');
    const ids = await append(store, 's1', said(8));
    await summarise(store, 's1', { afterId: at(ids, 1), throughId: at(ids, 3), keepIds: [] });
    const first = await store.read((db) => currentCompression(db, 's1'));
    await summarise(store, 's1', { afterId: at(ids, 1), throughId: at(ids, 6), keepIds: [] });
    await store.write((tx) => deactivateFrom(tx, 's1', at(ids, 5)));
    assert.equal((await store.read((db) => currentCompression(db, 's1')))?.id, first?.id);
    assert.deepEqual(await newest(store, 's1'), ['5', '2', '1']);
    await store.write((tx) => deactivateFrom(tx, 's1', at(ids, 3)));
    assert.equal(await store.read((db) => currentCompression(db, 's1')), undefined);
    assert.deepEqual(await newest(store, 's1'), ['3', '2', '1']);
    assert.deepEqual((await store.read((db) => newestSaid(db, 's1', 10))).map((row) => row.message.content), ['3', '2', '1']);
  });

  test('what the model counted is forgotten when something of it is taken back', async () => {
    const { store } = await open();
    await create(store, 's1');
    const ids = await append(store, 's1', said(4));
    await store.write((tx) => expectPrompt(tx, 's1', { tokens: 500, throughId: at(ids, 2) }));
    await store.write((tx) => deactivateFrom(tx, 's1', at(ids, 3)));
    assert.deepEqual((await store.read((db) => findSession(db, 's1')))?.prompt, { tokens: 500, throughId: at(ids, 2) });
    await store.write((tx) => deactivateFrom(tx, 's1', at(ids, 2)));
    assert.equal((await store.read((db) => findSession(db, 's1')))?.prompt, undefined);
  });

  test('a copy of a summarised conversation has the summary in the same place', async () => {
    const { store } = await open();
    for (const id of ['s1', 's2']) await create(store, id);
    const ids = await append(store, 's1', said(8));
    await summarise(store, 's1', { afterId: at(ids, 1), throughId: at(ids, 5), keepIds: [at(ids, 4)] });
    assert.equal(await store.write((tx) => copyMessages(tx, 's1', 's2')), 5);
    const copies = (await store.read((db) => newestMessages(db, 's2', { limit: 10 }))).toReversed();
    assert.deepEqual(copies.map((row) => row.message.content), ['1', '2', '5', '7', '8']);
    const copy = await store.read((db) => currentCompression(db, 's2'));
    assert.deepEqual([copy?.summary, copy?.headThroughId, copy?.throughId], ['what was said', copies[1]?.id, copies[2]?.id]);
  });

  test('the newest result of a tool is found by its name', async () => {
    const { store } = await open();
    await create(store, 's1');
    const result = (toolName: string): TranscriptMessage => ({ role: 'tool', content: 'x', toolCallId: 'c', toolName });
    const ids = await append(store, 's1', [result('todo'), result('todo_list'), { role: 'user', content: '"toolName":"todo"' }, result('todo'), result('other')]);
    assert.equal((await store.read((db) => newestResultOf(db, 's1', 'todo')))?.id, at(ids, 3));
    assert.equal(await store.read((db) => newestResultOf(db, 's1', 'none')), undefined);
  });
});
