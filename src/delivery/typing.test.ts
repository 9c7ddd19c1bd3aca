import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLiveAccount } from '../../test/support/live-account.ts';
import type { LiveAccount } from '../../test/support/live-account.ts';
import { toChat } from '../../test/support/telegram-account.ts';
import { until } from '../../test/support/until.ts';
import { PlatformError } from '../core/errors.ts';
import { silentLogger } from '../lib/logger.ts';
import { showTyping } from './typing.ts';

const target = toChat('7');

const start = (live: LiveAccount): Disposable => showTyping({ target, connections: live.connections, gate: live.gate, clock: live.clock, log: silentLogger, delayMs: 400 });

/** Lets time pass until so many signs were shown; answers how many were. */
const signsAfter = async (live: LiveAccount, ms: number, count: number): Promise<number> => {
  await live.clock.advance(ms);
  await until(() => live.simulator.typing().length >= count, `${count} signs`);
  // The answer has to come back before the next pause begins.
  await until(() => live.clock.waiting() === 1, 'the next pause');
  return live.simulator.typing().length;
};

test('a sign is shown after a moment and renewed while the work goes on', async () => {
  await using live = await openLiveAccount();
  using _typing = start(live);
  await live.clock.advance(399);
  assert.equal(live.simulator.typing().length, 0);
  assert.equal(await signsAfter(live, 1, 1), 1);
  assert.equal(await signsAfter(live, 4000, 2), 2);
  assert.deepEqual([...new Set(live.simulator.typing())], ['7']);
});

test('nothing is shown any more once the work is done', async () => {
  await using live = await openLiveAccount();
  {
    using _typing = start(live);
    await signsAfter(live, 400, 1);
  }
  await live.clock.advance(60_000);
  assert.equal(live.simulator.typing().length, 1);
  assert.equal(live.clock.waiting(), 0);
});

test('a chat that wants to be left alone gets no sign until its time is over', async () => {
  await using live = await openLiveAccount();
  await live.gate.close(target, new PlatformError('rate_limited', '', { scope: 'chat', retryAfterMs: 10_000 }));
  using _typing = start(live);
  await live.clock.advance(9999);
  assert.deepEqual(live.simulator.log.map((call) => call.method), []);
  assert.equal(await signsAfter(live, 5000, 1), 1);
});

test('a limit that a sign meets closes the chat for everybody', async () => {
  await using live = await openLiveAccount();
  live.simulator.fail({ what: 'typing', fault: { type: 'rate_limit', retryAfterMs: 7000 } });
  using _typing = start(live);
  await live.clock.advance(400);
  await until(() => live.gate.waitMs(target) === 7000, 'the gate to close');
});

test('a sign that fails is only a sign', async () => {
  await using live = await openLiveAccount();
  live.simulator.fail({ what: 'typing', fault: { type: 'status', status: 400 } });
  using _typing = start(live);
  await live.clock.advance(400);
  await until(() => live.simulator.log.length === 1 && live.clock.waiting() === 1, 'the failure');
  assert.equal(await signsAfter(live, 4000, 1), 1);
});
