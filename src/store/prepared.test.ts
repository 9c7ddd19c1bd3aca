import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { eachStore } from '../../test/support/stores.ts';
import { prepared } from './prepared.ts';

const insert = prepared((db, row: { key: string; value: string }) => db.q.insertInto('account_values').values({ account: 'a', key: row.key, value: row.value }));
const select = prepared((db, of: { key: string }) => db.q.selectFrom('account_values').select('value').where('account', '=', 'a').where('key', '=', of.key));
const time = prepared((db, _none: object) => db.q.selectFrom('meta').select(db.now.as('now')).limit(1));

eachStore((_engine, open) => {
  test('a prepared query runs with the values of each call', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await insert(tx, { key: 'one', value: 'first' });
      await insert(tx, { key: 'two', value: 'second' });
    });
    const rows = await store.read(async (db) => [(await select(db, { key: 'two' })).rows, (await select(db, { key: 'one' })).rows, (await select(db, { key: 'none' })).rows]);
    assert.deepEqual(rows, [[{ value: 'second' }], [{ value: 'first' }], []]);
  });

  test('a prepared query reads the clock when it runs, not when it was built', async () => {
    const { store, pass } = await open();
    const now = async (): Promise<number> => Number((await store.read((db) => time(db, {}))).rows[0]?.now);
    const before = await now();
    await pass(20);
    assert.ok((await now()) > before);
  });

  test('whoever computes with a value while the query is built is told', async () => {
    const { store } = await open();
    const careless = prepared((db, of: { ms: number }) => db.q.selectFrom('meta').select(sql<number>`${Math.ceil(of.ms)}`.as('ms')));
    const spread = prepared((db, row: { key: string; value: string }) => db.q.insertInto('account_values').values({ account: 'a', ...row }));
    await store.read(async (db) => assert.throws(() => careless(db, { ms: 1.5 }), /ms has no value/));
    await store.read(async (db) => assert.throws(() => spread(db, { key: 'k', value: 'v' }), /name each value/));
  });
});
