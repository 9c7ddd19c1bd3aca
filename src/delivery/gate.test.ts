import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import { eachStore } from '../../test/support/stores.ts';
import { PlatformError } from '../core/errors.ts';
import { manualClock } from '../lib/clock.ts';
import { capturingLogger, silentLogger } from '../lib/logger.ts';
import { DeliveryGate } from './gate.ts';

const here = { account: 'telegram', chatId: '1' };
const there = { account: 'telegram', chatId: '2' };
const elsewhere = { account: 'telegram@work', chatId: '1' };
const limited = (retryAfterMs: number | undefined, scope: 'chat' | 'account') => new PlatformError('rate_limited', '', { scope, ...(retryAfterMs !== undefined && { retryAfterMs }) });

eachStore((_engine, open) => {
  test('a limit of a chat closes that chat only, a limit of the account all its chats and no other account', async () => {
    const { store } = await open();
    const gate = await DeliveryGate.open({ store, clock: manualClock(), log: silentLogger });
    assert.equal(await gate.close(here, limited(5000, 'chat')), 5000);
    assert.equal(gate.waitMs(here), 5000);
    assert.deepEqual([gate.waitMs(there), gate.waitMs(elsewhere)], [0, 0]);
    await gate.close(here, limited(60_000, 'account'));
    assert.deepEqual([gate.waitMs(here), gate.waitMs(there), gate.waitMs(elsewhere)], [60_000, 60_000, 0]);
  });

  test('a platform that names no time is given some', async () => {
    const { store, clock } = await open();
    const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
    assert.equal(await gate.close(here, limited(undefined, 'chat')), 5000);
  });

  test('what was closed is closed after a restart and for other processes, until its time is over', async () => {
    const { store, another } = await open();
    const clock = manualClock();
    const beside = await another();
    const other = await DeliveryGate.open({ store: beside, clock, log: silentLogger });
    const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
    await gate.close(here, limited(60_000, 'chat'));
    const later = await DeliveryGate.open({ store: await another(), clock, log: silentLogger });
    assert.ok(later.waitMs(here) > 0);
    if (store.engine === 'postgres') await until(() => other.waitMs(here) > 0, 'the other process to be told');
    await clock.advance(60_000);
    assert.deepEqual([gate.waitMs(here), later.waitMs(here)], [0, 0]);
  });

  test('only what the store knows to be closed is, whatever anybody says', async () => {
    const { store, another } = await open();
    const { log, lines } = capturingLogger();
    const gate = await DeliveryGate.open({ store, clock: manualClock(), log });
    const other = await DeliveryGate.open({ store: store.engine === 'postgres' ? await another() : store, clock: manualClock(), log });
    await store.write(async (tx) => {
      for (const said of ['', 'x', 'account:telegram@work', '{"scope":"account:telegram@work","forMs":1e15}']) tx.notify('gate', said);
    });
    await gate.close(here, limited(60_000, 'account'));
    await until(() => other.waitMs(here) > 0, 'the other to be told');
    assert.deepEqual([gate, other].map((one) => one.waitMs(elsewhere)), [0, 0]);
    assert.deepEqual(lines, []);
  });

  test('a store that fails does not open the gate', async () => {
    const { another } = await open();
    const { log, lines } = capturingLogger();
    const broken = await another();
    const gate = await DeliveryGate.open({ store: broken, clock: manualClock(), log });
    await broken.close();
    assert.equal(await gate.close(here, limited(5000, 'chat')), 5000);
    assert.equal(gate.waitMs(here), 5000);
    assert.ok(lines.some((line) => line.includes('gate.not_kept')));
  });
});
