import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../core/errors.ts';
import { eachStore } from '../../test/support/stores.ts';
import { capturingLogger } from '../lib/logger.ts';
import { accountData } from './accounts/account-data.ts';
import { openStore } from './open.ts';
import type { Store, Writing } from './store.ts';

const put = (tx: Writing, key: string, value = 'x') => tx.q.insertInto('account_values').values({ account: 'a', key, value }).execute();

const keys = async (store: Store): Promise<string[]> => (await accountData(store, 'a').list('')).map((row) => row.key);

/** Resolves with the first payload, and fails instead of hanging. */
const heard = (store: Store, channel: 'lane' | 'journal'): Promise<string> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nothing came on ${channel}`)), 60_000);
    const subscription = store.listen(channel, (payload) => {
      clearTimeout(timer);
      subscription[Symbol.dispose]();
      resolve(payload);
    });
  });

eachStore((engine, open) => {
  test('a write that throws leaves nothing behind and passes the error on as it is', async () => {
    const { store } = await open();
    const mine = new TypeError('mine');
    await assert.rejects(
      store.write(async (tx) => {
        await put(tx, 'k');
        throw mine;
      }),
      (error) => error === mine,
    );
    assert.deepEqual(await keys(store), []);
  });

  test('one failing write does not hurt those beside it', async () => {
    const { store } = await open();
    const jobs = Array.from({ length: 20 }, (_, i) =>
      store.write(async (tx) => {
        await put(tx, `k${String(i).padStart(2, '0')}`);
        if (i % 5 === 3) await put(tx, `k${String(i).padStart(2, '0')}`);
        return i;
      }),
    );
    const results = await Promise.allSettled(jobs);
    for (const [i, result] of results.entries()) {
      if (i % 5 !== 3) assert.deepEqual(result, { status: 'fulfilled', value: i });
      else assert.ok(result.status === 'rejected' && result.reason instanceof StoreError && result.reason.code === 'failed');
    }
    assert.equal((await keys(store)).length, 16);
  });

  test('a read never sees what is not committed', async () => {
    const { store, another } = await open();
    const other = await another();
    const seen: string[][] = [];
    await store.write(async (tx) => {
      await put(tx, 'early');
      seen.push(await keys(store), await keys(other));
    });
    assert.deepEqual(seen, [[], []]);
    assert.deepEqual(await keys(other), ['early']);
  });

  test('notifications come after the commit, to every listener of this store, once each', async () => {
    const { store } = await open();
    const seen: string[] = [];
    const firstListener = store.listen('lane', (lane) => seen.push(`first ${lane}`));
    store.listen('lane', (lane) => seen.push(`second ${lane}`));
    store.listen('journal', () => seen.push('wrong channel'));
    const committed = heard(store, 'lane').then(() => keys(store));
    await store.write(async (tx) => {
      tx.notify('lane', 'l1');
      await put(tx, 'k');
      assert.deepEqual(seen, []);
    });
    assert.deepEqual(await committed, ['k']);
    assert.deepEqual(seen, ['first l1', 'second l1']);
    firstListener[Symbol.dispose]();
    const again = heard(store, 'lane');
    await store.write(async (tx) => tx.notify('lane', 'l2'));
    await again;
    // An echo of our own notification would have come by the time that a later one is back.
    assert.deepEqual(seen, ['first l1', 'second l1', 'second l2']);
  });

  test('a write that is rolled back notifies nobody', async () => {
    const { store, another } = await open();
    const other = await another();
    const seen: string[] = [];
    for (const one of [store, other]) one.listen('lane', (lane) => seen.push(lane));
    await assert.rejects(
      store.write(async (tx) => {
        tx.notify('lane', 'undone');
        await put(tx, 'k');
        throw new Error('no');
      }),
    );
    const next = heard(store, 'lane');
    await store.write(async (tx) => tx.notify('lane', 'done'));
    await next;
    if (engine === 'postgres' && !seen.includes('done')) await heard(other, 'lane');
    assert.deepEqual([...new Set(seen)], ['done']);
  });

  test('a listener that throws fails neither the write, nor those beside it, nor the process; the others are told, and the log says so', async () => {
    const { location, clock } = await open();
    const { log, lines } = capturingLogger();
    const store = await openStore({ ...location, clock, log, checkIntegrity: false });
    const told: string[] = [];
    for (const when of ['committed', 'written'] as const) {
      store.listen(
        'lane',
        () => {
          throw new Error('on purpose');
        },
        when,
      );
      store.listen('lane', (lane) => told.push(lane), when);
    }
    await Promise.all([store.write(async (tx) => tx.notify('lane', 'l')), store.write((tx) => put(tx, 'beside'))]);
    await store.write((tx) => put(tx, 'later'));
    assert.deepEqual(await keys(store), ['beside', 'later']);
    assert.deepEqual(told, ['l', 'l']);
    assert.equal(lines.filter((line) => line.includes('store.listener_failed') && line.includes('on purpose')).length, 2);
    await store.close();
  });

  test('writes run in the order in which they were submitted, also from the continuation of another', async () => {
    const { store } = await open();
    const order: string[] = [];
    const write = (name: string) => store.write(async () => void order.push(name));
    await Promise.all([write('1').then(() => write('1a')).then(() => write('1b')), write('2').then(() => write('2a'))]);
    const at = (name: string): number => order.indexOf(name);
    assert.equal(order.length, 5);
    assert.ok(at('1') < at('1a') && at('1a') < at('1b') && at('2') < at('2a'));
    if (engine === 'sqlite') assert.deepEqual(order, ['1', '2', '1a', '2a', '1b']);
  });

  test('a chain of writes lets timers and sockets have their turn', async () => {
    const { store } = await open();
    const fired: string[] = [];
    const timer = setTimeout(() => fired.push('timer'));
    for (let i = 0; i < 5000 && fired.length === 0; i += 1) await store.write(async () => undefined);
    clearTimeout(timer);
    assert.deepEqual(fired, ['timer']);
  });

  test('close lets what was submitted end, and refuses what comes later', async () => {
    const { store, another } = await open();
    const submitted = Array.from({ length: 100 }, (_, i) => store.write((tx) => put(tx, `k${i}`)));
    const reading = store.read(async (db) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return db.q.selectFrom('meta').selectAll().execute();
    });
    const closing = store.close();
    const refused = { name: 'StoreError', code: 'unavailable' };
    await assert.rejects(store.write(async () => undefined), refused);
    await assert.rejects(store.read(async () => undefined), refused);
    await Promise.all(submitted);
    assert.equal((await reading).length, 1);
    await closing;
    await store.close();
    assert.equal((await keys(await another())).length, 100);
  });

  test('a character that PostgreSQL cannot hold is replaced, and finds itself again', async () => {
    const { store } = await open();
    const data = accountData(store, 'a');
    await data.set('with\0nul', 'a\0b\ud800c');
    assert.equal(await data.get('with\0nul'), 'a\uFFFDb\uFFFDc');
  });

  test('fractions of a millisecond are waited for, not refused', async () => {
    const { store } = await open();
    const { closeGate, closedGates } = await import('./messages/gates.ts');
    await store.write((tx) => closeGate(tx, { scope: 's', forMs: 60_000.2, reason: 'r' }));
    assert.equal((await store.read(closedGates)).length, 1);
  });

  test('a statement that outlives its transaction is refused', async () => {
    const { store } = await open();
    let leaked: Writing | undefined;
    await store.write(async (tx) => {
      leaked = tx;
    });
    await assert.rejects(async () => leaked !== undefined && (await put(leaked, 'late')));
    assert.deepEqual(await keys(store), []);
  });
});
