import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { capturingLogger, silentLogger } from '../../lib/logger.ts';
import { noPostgresReason } from '../../../test/support/postgres.ts';
import { emptyPostgres } from '../../../test/support/stores.ts';
import { PostgresStore } from './postgres.ts';
import type { Store } from '../store.ts';

describe('postgres', noPostgresReason === undefined ? {} : { skip: noPostgresReason }, () => {
  let url = '';
  const opened: PostgresStore[] = [];

  const open = async (log = silentLogger): Promise<PostgresStore> => {
    const store = await PostgresStore.open({ url, log, poolSize: 4, clock: systemClock, backups: '' });
    opened.push(store);
    return store;
  };

  before(async () => {
    ({ url } = await emptyPostgres());
  });

  afterEach(async () => {
    await opened[0]?.write((tx) => tx.q.deleteFrom('account_values').execute());
    for (const store of opened.splice(0)) await store.close();
  });

  /** Ends every connection to the database but the one that asks. */
  const cutConnections = (store: Store): Promise<unknown> =>
    store.write((tx) => sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(tx.q));

  test('a connection that breaks in the middle of a write fails that write as unavailable and nothing else', async () => {
    const store = await open();
    const cutter = await open();
    const hanging = store.write((tx) => sql`select pg_sleep(30)`.execute(tx.q));
    const failed = assert.rejects(hanging, { name: 'StoreError', code: 'unavailable' });
    await cutter.write((tx) => untilRunning(tx.q));
    await cutConnections(cutter);
    await failed;
    assert.equal(await store.write(async () => 'works again'), 'works again');
  });

  /** Waits until another connection sleeps in a query. */
  const untilRunning = async (q: Parameters<Parameters<Store['write']>[0]>[0]['q']): Promise<void> => {
    for (;;) {
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`.execute(q);
      if (rows.length > 0) return;
      await sql`select pg_stat_clear_snapshot()`.execute(q);
    }
  };

  test('what others say on the same channel is passed over', async () => {
    const store = await open();
    const other = await open();
    const told = Promise.withResolvers<string>();
    using _listening = store.listen('lane', told.resolve);
    for (const foreign of ['', 'not JSON', '{}', '[1,2,3]', '["other","error","x"]', '["other","lane"]']) await other.write((tx) => sql`select pg_notify('hermes', ${foreign})`.execute(tx.q));
    await other.write(async (tx) => tx.notify('lane', 'turn:s1'));
    assert.equal(await told.promise, 'turn:s1');
  });

  test('notifications of other processes arrive, and arrive again after the connection was lost', async () => {
    const { log, lines } = capturingLogger();
    const store = await open(log);
    const other = await open();
    const next = (): Promise<string> =>
      new Promise((resolve) => {
        const subscription = store.listen('lane', (lane) => {
          subscription[Symbol.dispose]();
          resolve(lane);
        });
      });
    const before = next();
    await other.write(async (tx) => tx.notify('lane', 'before'));
    assert.equal(await before, 'before');
    await cutConnections(other);
    const after = next();
    const heard: string[] = [];
    void after.then((lane) => heard.push(lane));
    while (heard.length === 0) {
      await other.write(async (tx) => tx.notify('lane', 'after'));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(await after, 'after');
    assert.ok(lines.some((line) => line.includes('store.notifications_lost')));
  });

  test('a deadlock is resolved by running the work again', async () => {
    const store = await open();
    await store.write((tx) => tx.q.insertInto('account_values').values([{ account: 'a', key: 'x', value: '' }, { account: 'a', key: 'y', value: '' }]).execute());
    let runs = 0;
    let met = 0;
    const bothInside = Promise.withResolvers<void>();
    const append = async (first: string, second: string): Promise<void> => {
      await store.write(async (tx) => {
        runs += 1;
        const touch = (key: string) => tx.q.updateTable('account_values').set({ value: sql`value || '.'` }).where('key', '=', key).execute();
        await sql`set local deadlock_timeout = '10ms'`.execute(tx.q);
        await touch(first);
        met += 1;
        if (met === 2) bothInside.resolve();
        await bothInside.promise;
        await touch(second);
      });
    };
    await Promise.all([append('x', 'y'), append('y', 'x')]);
    assert.ok(runs >= 3, `it ran ${runs} times`);
    const rows = await store.read((db) => db.q.selectFrom('account_values').select('value').execute());
    assert.deepEqual(rows.map((row) => row.value), ['..', '..']);
  });

  test('a notification that PostgreSQL would refuse for its length does not fail the write', async () => {
    const store = await open();
    const heard: string[] = [];
    store.listen('lane', (lane) => heard.push(lane));
    const long = 'x'.repeat(10_000);
    await store.write(async (tx) => tx.notify('lane', long));
    await store.write(async () => undefined);
    assert.deepEqual(heard, [long]);
  });

  test('after a statement has failed, the transaction cannot succeed', async () => {
    const store = await open();
    const write = store.write(async (tx) => {
      await tx.q.insertInto('account_values').values({ account: 'a', key: 'k', value: '' }).execute();
      await tx.q.insertInto('account_values').values({ account: 'a', key: 'k', value: '' }).execute().catch(() => undefined);
    });
    await assert.rejects(write, { name: 'StoreError', code: 'failed' });
  });

  test('what the caller throws passes through as it is, also when it looks like an error of the driver', async () => {
    const store = await open();
    const mine = Object.assign(new Error('mine'), { code: 'ECONNRESET' });
    for (const attempt of [store.write(() => Promise.reject(mine)), store.read(() => Promise.reject(mine))]) await assert.rejects(attempt, (error) => error === mine);
  });

  test('a server that cannot be reached, and a database that does not exist, are unavailable', async () => {
    await open();
    for (const wrong of ['postgres://nobody@127.0.0.1:1/none', url.replace(/test_\w+/, 'test_missing')]) {
      await assert.rejects(PostgresStore.open({ url: wrong, log: silentLogger, clock: systemClock, backups: '' }), { name: 'StoreError', code: 'unavailable' });
    }
  });

  test('more writes at once than connections wait for each other', async () => {
    const store = await open();
    const write = (i: number) => store.write((tx) => tx.q.insertInto('account_values').values({ account: 'a', key: `k${i}`, value: '' }).execute());
    await Promise.all(Array.from({ length: 50 }, (_, i) => write(i)));
    assert.equal((await store.read((db) => db.q.selectFrom('account_values').select('key').execute())).length, 50);
  });
});
