import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/whole.ts';
import { eachStore } from '../../test/support/stores.ts';
import { PlatformError } from '../core/errors.ts';
import { capturingLogger, silentLogger } from '../lib/logger.ts';
import { DeliveryGate } from './gate.ts';

const here = { account: 'telegram', chatId: '1' };
const there = { account: 'telegram', chatId: '2' };
const elsewhere = { account: 'telegram@work', chatId: '1' };
const limited = (retryAfterMs: number | undefined, scope: 'chat' | 'account') => new PlatformError('rate_limited', '', { scope, ...(retryAfterMs !== undefined && { retryAfterMs }) });

eachStore((_engine, open) => {
  test('a limit of a chat closes that chat only, a limit of the account all its chats and no other account', async () => {
    const { store, clock } = await open();
    const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
    assert.equal(await gate.close(here, limited(5000, 'chat')), 5000);
    assert.ok(gate.waitMs(here) > 4000);
    assert.deepEqual([gate.waitMs(there), gate.waitMs(elsewhere)], [0, 0]);
    await gate.close(here, limited(60_000, 'account'));
    assert.ok(gate.waitMs(here) > 50_000 && gate.waitMs(there) > 50_000);
    assert.equal(gate.waitMs(elsewhere), 0);
  });

  test('a platform that names no time is given some', async () => {
    const { store, clock } = await open();
    const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
    assert.equal(await gate.close(here, limited(undefined, 'chat')), 5000);
  });

  test('what was closed is closed after a restart and for other processes, until its time is over', async () => {
    const { store, clock, another, pass } = await open();
    const beside = await another();
    const other = await DeliveryGate.open({ store: beside, clock, log: silentLogger });
    const gate = await DeliveryGate.open({ store, clock, log: silentLogger });
    await gate.close(here, limited(500, 'chat'));
    const later = await DeliveryGate.open({ store: await another(), clock, log: silentLogger });
    assert.ok(later.waitMs(here) > 0);
    if (store.engine === 'postgres') await until(() => other.waitMs(here) > 0, 'the other process to be told');
    await pass(600);
    assert.deepEqual([gate.waitMs(here), later.waitMs(here)], [0, 0]);
  });

  test('a store that fails does not open the gate', async () => {
    const { another, clock } = await open();
    const { log, lines } = capturingLogger();
    const broken = await another();
    const gate = await DeliveryGate.open({ store: broken, clock, log });
    await broken.close();
    assert.equal(await gate.close(here, limited(5000, 'chat')), 5000);
    assert.ok(gate.waitMs(here) > 4000);
    assert.ok(lines.some((line) => line.includes('gate.not_kept')));
  });
});
