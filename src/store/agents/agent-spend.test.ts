import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachStore } from '../../../test/support/stores.ts';
import { addSpend, spendOf, spendOfDay } from './agent-spend.ts';

const day = '2026-11-15';

eachStore((_engine, open) => {
  test('calls of one agent and day add up, and nobody else’s', async () => {
    const { store, another } = await open();
    const add = (agent: string, usd: number | undefined, on = day): Promise<void> => store.write((tx) => addSpend(tx, { agent, day: on, usd }));
    await Promise.all([add('a', 0.25), add('a', 0.5), add('a', undefined), add('b', 1), add('a', 9, '2026-11-16')]);
    const later = await another();
    assert.deepEqual(await later.read((db) => spendOf(db, { agent: 'a', day })), { usd: 0.75, unpriced: 1 });
    assert.deepEqual(await later.read((db) => spendOf(db, { agent: 'c', day })), { usd: 0, unpriced: 0 });
    assert.deepEqual([...(await later.read((db) => spendOfDay(db, day)))].toSorted(), [['a', { usd: 0.75, unpriced: 1 }], ['b', { usd: 1, unpriced: 0 }]]);
  });
});
