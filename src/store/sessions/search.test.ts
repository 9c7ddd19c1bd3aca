import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Store } from '../store.ts';
import { searchMessages, searchTokens, snippetOf } from './search.ts';
import { createSession } from './sessions.ts';
import { appendMessage, deactivateFrom } from './transcripts.ts';

const prepare = async (store: Store, texts: readonly string[], sessionId = 's1'): Promise<number[]> =>
  store.write(async (tx) => {
    await createSession(tx, { id: sessionId, agent: 'main', account: 'telegram', chatType: 'dm', title: `title of ${sessionId}` });
    const ids: number[] = [];
    for (const content of texts) ids.push(await appendMessage(tx, { sessionId, turnId: null }, { role: 'user', content }));
    return ids;
  });

/** The messages that a query finds, by their place in what was said. */
const newFinder = (store: Store, ids: readonly number[]) => async (text: string): Promise<number[]> => {
  const hits = await searchMessages(store, { text, limit: 50 });
  return hits.map((hit) => ids.indexOf(hit.messageId)).toSorted((a, b) => a - b);
};

eachStore((_engine, open) => {
  test('words are found in any order and case, the last one also unfinished', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['The gateway restarts nightly', 'A gate in the garden', 'nothing here']));
    assert.deepEqual(await find('gateway'), [0]);
    assert.deepEqual(await find('gate'), [0, 1]);
    assert.deepEqual(await find('NIGHTLY Gate'), [0]);
    assert.deepEqual(await find('gate nightly'), []);
    assert.deepEqual(await find('way'), []);
    assert.deepEqual(await find('unknown'), []);
  });

  test('Chinese is found by two characters and by one', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['今天天气很好', '明天去北京', '我们在线']));
    assert.deepEqual(await find('天气'), [0]);
    assert.deepEqual(await find('北京'), [1]);
    assert.deepEqual(await find('天'), [0, 1]);
    assert.deepEqual(await find('好'), [0]);
    assert.deepEqual(await find('线'), [2]);
    assert.deepEqual(await find('今天 很好'), [0]);
    assert.deepEqual(await find('天京'), []);
  });

  test('scripts that touch each other are found each by itself', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['用Rust写的gateway', 'サーバーを再起動するserver01です', '안녕하세요 세계', 'สวัสดีชาวโลก']));
    for (const query of ['写的', 'rust', 'gateway', 'RUST写的gate', '用']) assert.deepEqual(await find(query), [0], query);
    for (const query of ['サーバー', '再起動', 'server01', 'です', 'server', 'ｻｰﾊﾞｰ']) assert.deepEqual(await find(query), [1], query);
    for (const query of ['안녕', '하세', '세계']) assert.deepEqual(await find(query), [2], query);
    for (const query of ['สวัสดี', 'โลก']) assert.deepEqual(await find(query), [3], query);
  });

  test('accents, width and composition make no difference', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['Café in München', 'cafe\u0301 decomposed', 'Ｆｕｌｌｗｉｄｔｈ', 'İstanbul', 'Ёлка', 'हिन्दी में']));
    for (const query of ['cafe', 'café', 'CAFE\u0301']) assert.deepEqual(await find(query), [0, 1], query);
    assert.deepEqual(await find('munchen'), [0]);
    assert.deepEqual(await find('fullwidth'), [2]);
    assert.deepEqual(await find('istanbul'), [3]);
    assert.deepEqual(await find('елка'), [4]);
    assert.deepEqual(await find('हिन्दी'), [5]);
  });

  test('emoji are neither indexed nor looked for', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['❤️ thanks 👍🏽', '🎉🎉', 'step 1️⃣ done']));
    assert.deepEqual(await find('thanks'), [0]);
    assert.deepEqual(await find('👍🏽 thanks ❤️'), [0]);
    for (const nothing of ['❤️', '🎉', '\uFE0F']) assert.deepEqual(await find(nothing), [], nothing);
    assert.deepEqual(await find('1'), [2]);
  });

  test('operators, quotes and wildcards are only text', async () => {
    const { store } = await open();
    const texts = ["it's a \"quoted\" word", 'foo AND bar', 'near not or', "o'brien:*", 'tokens column'];
    const find = newFinder(store, await prepare(store, texts));
    for (const query of ['"', "'", '""', '*', '()', 'a OR', '-', '^foo', ':*', '&|!', '\\', "'; drop table messages; --", 'NEAR(', '{tokens}:x', '\0', '%', '_%']) {
      assert.ok(Array.isArray(await find(query)), query);
    }
    assert.deepEqual(await find('foo AND bar'), [1]);
    assert.deepEqual(await find('foo OR near'), []);
    assert.deepEqual(await find('"quoted" word'), [0]);
    assert.deepEqual(await find("o'brien"), [3]);
    assert.deepEqual(await find('tokens:column'), [4]);
    assert.deepEqual(await find(''), []);
    assert.deepEqual(await find('   '), []);
  });

  test('what was undone is not found, and tool output never is', async () => {
    const { store } = await open();
    const ids = await prepare(store, ['keep apples', 'undo apples']);
    await store.write((tx) => appendMessage(tx, { sessionId: 's1', turnId: null }, { role: 'tool', content: 'apples from a tool', toolCallId: 'c' }));
    const find = newFinder(store, ids);
    assert.deepEqual(await find('apples'), [0, 1]);
    await store.write((tx) => deactivateFrom(tx, 's1', ids[1] ?? 0));
    assert.deepEqual(await find('apples'), [0]);
    const indexed = await store.read((db) => db.q.selectFrom('message_search').select('rowid').execute());
    assert.deepEqual(indexed.map((row) => row.rowid), [ids[0]]);
  });

  test('a hit says where it is, newest first, and can be limited to a conversation', async () => {
    const { store } = await open();
    const first = await prepare(store, ['apple one', 'apple two']);
    const second = await prepare(store, ['apple three'], 's2');
    const all = await searchMessages(store, { text: 'apple', limit: 10 });
    assert.deepEqual(all.map((hit) => hit.messageId), [...first, ...second].toReversed());
    assert.deepEqual({ ...all[0], createdAtMs: 0 }, { messageId: second[0], sessionId: 's2', title: 'title of s2', role: 'user', createdAtMs: 0, snippet: '>>>apple<<< three' });
    assert.deepEqual((await searchMessages(store, { text: 'apple', limit: 10, sessionId: 's1' })).map((hit) => hit.messageId), first.toReversed());
    assert.equal((await searchMessages(store, { text: 'apple', limit: 1 })).length, 1);
  });

  test('a huge message is stored whole, found by its beginning, and costs little', async () => {
    const { store } = await open();
    const million = `start of it ${'lorem ipsum dolor '.repeat(60_000)} ending`;
    const oneWord = 'x'.repeat(1_000_000);
    const chinese = Array.from({ length: 300_000 }, (_, i) => String.fromCodePoint(0x4e00 + (i * 7919) % 20_000)).join('');
    const astral = Array.from({ length: 20_000 }, (_, i) => String.fromCodePoint(0x20000 + i)).join('');
    const ids = await prepare(store, [million, oneWord, chinese, astral]);
    const find = newFinder(store, ids);
    assert.deepEqual(await find('start'), [0]);
    assert.deepEqual(await find('ending'), []);
    assert.deepEqual(await find('xxxx'), [1]);
    assert.deepEqual(await find(oneWord), [1]);
    assert.deepEqual(await find(chinese.slice(100, 110)), [2]);
    assert.deepEqual(await find(astral), [3]);
    const hits = await searchMessages(store, { text: 'lorem', limit: 10 });
    assert.ok((hits[0]?.snippet.length ?? 1000) < 250);
  });

  test('a huge query is cut, not refused', async () => {
    const { store } = await open();
    const find = newFinder(store, await prepare(store, ['alpha beta']));
    const words = Array.from({ length: 100_000 }, (_, i) => `w${i}`).join(' ');
    assert.deepEqual(await find(words), []);
    assert.deepEqual(await find('alpha beta '.repeat(5000)), [0]);
  });
});

describe('tokens', () => {
  test('every two neighbours of an unspaced script, and the last alone', () => {
    assert.deepEqual(searchTokens('用Rust写的gateway'), ['用', 'rust', '写的', '的', 'gateway']);
    assert.deepEqual(searchTokens('サーバー'), ['サー', 'ーバ', 'バー', 'ー']);
    assert.deepEqual(searchTokens('a a A'), ['a']);
    assert.deepEqual(searchTokens('❤️ 👍'), []);
  });
});

describe('snippets', () => {
  test('mark the first word that matches, in its own spelling', () => {
    assert.equal(snippetOf('Ein Café in München', 'munchen cafe'), 'Ein >>>Café<<< in München');
    assert.equal(snippetOf('cafe\u0301 noir', 'cafe'), '>>>cafe\u0301<<< noir');
    assert.equal(snippetOf('İİİ and THEN', 'then'), 'İİİ and >>>THEN<<<');
    assert.equal(snippetOf('今天天气很好', '天气'), '今天>>>天气<<<很好');
  });

  test('are short, on one line, and whole characters', () => {
    const long = `${'😀'.repeat(200)}\n\n needle ${'😀'.repeat(200)}`;
    const snippet = snippetOf(long, 'needle');
    assert.match(snippet, /^….* >>>needle<<< .*…$/u);
    assert.ok(snippet.length < 200 && snippet.isWellFormed());
    assert.equal(snippetOf('nothing of it', 'absent'), 'nothing of it');
  });
});
