import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import type { Store } from '../store.ts';
import { accountData } from './account-data.ts';

type AccountData = ReturnType<typeof accountData>;

const dataOf = (store: Store, account = 'web'): AccountData => accountData(store, account);

eachStore((_engine, open) => {
  test('values are kept per account, replaced and removed', async () => {
    const { store, another } = await open();
    const data = dataOf(store);
    assert.equal(await data.get('k'), undefined);
    await data.set('k', '1');
    await data.set('k', '2');
    assert.equal(await data.get('k'), '2');
    assert.equal(await dataOf(store, 'other').get('k'), undefined);
    const removed = await Promise.all([data, dataOf(await another()), data].map((one) => one.remove('k')));
    assert.deepEqual(removed.toSorted(), [false, false, true]);
    assert.equal(await data.get('k'), undefined);
  });

  test('a change is made whole or not at all, and of several that began from the same value exactly one succeeds', async () => {
    const { store, another } = await open();
    const both = [dataOf(store), dataOf(await another())];
    const [data] = both;
    assert.ok(data !== undefined);
    const attempt = (from: string | undefined, to: string) => both.map((one, i) => one.change({ key: 'version', from, to: `${to}${i}`, set: new Map([['a', `${to}${i}`], [`only ${to}${i}`, 'x']]), remove: ['gone'] }));
    await data.set('gone', 'x');
    assert.deepEqual((await Promise.all(attempt(undefined, 'first'))).toSorted(), [false, true]);
    const first = await data.get('version');
    assert.deepEqual([await data.get('a'), await data.get('gone'), (await data.list('only ')).map(({ key }) => key)], [first, undefined, [`only ${first}`]]);
    assert.deepEqual((await Promise.all(attempt(first, 'second'))).toSorted(), [false, true]);
    assert.equal(await data.get('a'), await data.get('version'));
    assert.deepEqual(await Promise.all(attempt(first, 'third')), [false, false]);
    assert.equal((await data.list('only ')).length, 2);
  });

  test('listing takes a prefix literally, whatever characters it has, and orders by bytes', async () => {
    const { store } = await open();
    const data = dataOf(store);
    const keys = ['a%b', 'a%bc', 'a_b', 'axb', 'A', 'Z', 'a', 'b', 'é', 'e', '😀', '😀x', '😁', '写', '写的', 'a%'];
    for (const key of keys) await data.set(key, key);
    await dataOf(store, 'other').set('a%b', 'not mine');
    const list = async (prefix: string): Promise<string[]> => (await data.list(prefix)).map((row) => row.key);
    const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
    assert.deepEqual(await list(''), keys.toSorted(byBytes));
    assert.deepEqual(await list('a%'), ['a%', 'a%b', 'a%bc']);
    assert.deepEqual(await list('a_'), ['a_b']);
    assert.deepEqual(await list('😀'), ['😀', '😀x']);
    assert.deepEqual(await list('写'), ['写', '写的']);
    assert.deepEqual(await list('zzz'), []);
  });

  test('an entry with a known key is not appended again and keeps its number', async () => {
    const { store } = await open();
    const data = dataOf(store);
    const first = await data.append('chat', 'k1', 'one');
    const second = await data.append('chat', 'k2', 'two');
    assert.ok(second > first);
    assert.equal(await data.append('chat', 'k1', 'changed'), first);
    assert.notEqual(await data.append('other', 'k1', 'three'), first);
    const entries = await data.read({ after: 0, limit: 10 });
    assert.deepEqual(entries.map((entry) => [entry.stream, entry.entry]), [['chat', 'one'], ['chat', 'two'], ['other', 'three']]);
    assert.deepEqual((await data.read({ stream: 'chat', after: first, limit: 10 })).map((entry) => entry.entry), ['two']);
    assert.deepEqual(await dataOf(store, 'other').read({ after: 0, limit: 10 }), []);
  });

  test('the tail gives the newest entries, oldest first, of one stream or all, below a number', async () => {
    const { store } = await open();
    const data = dataOf(store);
    const numbers: number[] = [];
    for (let i = 0; i < 6; i += 1) numbers.push(await data.append(i % 2 === 0 ? 'even' : 'odd', `k${i}`, String(i)));
    const texts = async (query: Parameters<AccountData['tail']>[0]): Promise<string[]> => (await data.tail(query)).map((entry) => entry.entry);
    assert.deepEqual(await texts({ limit: 3 }), ['3', '4', '5']);
    assert.deepEqual(await texts({ stream: 'even', limit: 2 }), ['2', '4']);
    assert.deepEqual(await texts({ stream: 'even', limit: 2, before: numbers[4] ?? 0 }), ['0', '2']);
    assert.deepEqual(await texts({ before: numbers[2] ?? 0, limit: 10 }), ['0', '1']);
  });

  test('watchers hear of entries of their account only', async () => {
    const { store } = await open();
    const seen: string[] = [];
    const mine = dataOf(store).watch(() => seen.push('web'));
    dataOf(store, 'other').watch(() => seen.push('other'));
    await dataOf(store).append('s', 'k', 'e');
    await dataOf(store).append('s', 'k', 'e');
    mine[Symbol.dispose]();
    await dataOf(store).append('s', 'k2', 'e');
    assert.deepEqual(seen, ['web']);
  });

  test('a reader that follows by number misses nothing, whoever appends at the same time', async () => {
    const { store, another } = await open();
    const writers = [dataOf(store), dataOf(await another()), dataOf(await another())];
    const reader = dataOf(await another());
    const total = 150;
    const writing = Promise.all(Array.from({ length: total }, (_, i) => writers[i % 3]?.append('s', `k${i}`, String(i))));
    const seen: string[] = [];
    let after = 0;
    let ended = false;
    void writing.then(() => {
      ended = true;
    });
    for (let last = false; !last; ) {
      last = ended;
      const entries = await reader.read({ after, limit: 7 });
      for (const entry of entries) seen.push(entry.entry);
      after = entries.at(-1)?.seq ?? after;
      if (entries.length > 0) last = false;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(seen.length, total);
    assert.equal(new Set(seen).size, total);
  });
});
