import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLiveAccount } from '../../test/support/live-account.ts';
import type { LiveAccount } from '../../test/support/live-account.ts';
import { toChat } from '../../test/support/telegram-account.ts';
import { until } from '../../test/support/whole.ts';
import type { Adapter } from '../platforms/contract.ts';
import { failedDeliveries } from '../store/messages/outbox.ts';
import { enqueueTo, hour, outboxOf, shownIn, startDispatcher } from './dispatcher.test-support.ts';
import type { Sending } from './dispatcher.test-support.ts';

/** One whose account has its connection, or not, as the test wants. */
const startSending = (live: LiveAccount, connectedAtFirst = true, promises: Pick<Adapter, 'repeatsAreSafe' | 'repeatsAreSafeForMs'> = {}): Sending & { connect(connected: boolean): void } => {
  let connected = connectedAtFirst;
  const adapter = (account: string): Adapter | undefined => {
    const found = connected ? live.connections.adapter(account) : undefined;
    return found === undefined ? undefined : { ...found, ...promises };
  };
  return { ...startDispatcher(live, { adapter }), connect: (now) => (connected = now) };
};

const send = (live: LiveAccount, text: string, chatId = '7'): Promise<void> => enqueueTo(live, chatId, text);

const visible = (live: LiveAccount): readonly string[] => shownIn(live, '7');

const states = async (live: LiveAccount): Promise<readonly string[]> => (await outboxOf(live)).map((row) => row.state);

test('deliveries go out in order, and the ids that the platform gave them are kept', async () => {
  await using live = await openLiveAccount();
  await using _sending = startSending(live);
  for (const text of ['one', 'two', 'three']) await send(live, text);
  await until(async () => (await states(live)).every((state) => state === 'sent'), 'all to be sent');
  assert.deepEqual(visible(live), ['one', 'two', 'three']);
  assert.deepEqual((await outboxOf(live)).map((row) => JSON.parse(row.message_ids ?? '[]') as string[]), live.simulator.visible('7').map((message) => [message.id]));
});

test('an account without a connection makes its deliveries wait, unharmed, and its connection sends them at once', async () => {
  await using live = await openLiveAccount();
  await using sending = startSending(live, false);
  await send(live, 'one');
  await live.clock.advance(5000);
  assert.deepEqual((await outboxOf(live)).map((row) => [row.state, row.attempts]), [['pending', 0]]);
  sending.connect(true);
  await sending.dispatcher.connected('telegram');
  await until(() => visible(live).length === 1, 'the delivery');
});

test('a connection ends the pause of what had failed, but not that of a chat that wants to be left alone', async () => {
  await using live = await openLiveAccount();
  await using sending = startSending(live);
  live.simulator.fail({ what: 'send', fault: { type: 'status', status: 502 } });
  await send(live, 'one');
  await until(async () => (await outboxOf(live))[0]?.attempts === 1 && (await states(live))[0] === 'pending', 'a failure');
  await live.store.write((tx) => tx.q.updateTable('outbox').set({ not_before: live.clock.now() + hour }).execute());
  await live.clock.advance(2000);
  assert.deepEqual(visible(live), []);
  await sending.dispatcher.connected('telegram');
  await until(() => visible(live).length === 1, 'the delivery');
  live.simulator.fail({ what: 'send', fault: { type: 'rate_limit', retryAfterMs: 60_000 } });
  await send(live, 'two');
  await until(() => live.gate.waitMs(toChat('7')) > 0, 'the limit');
  await until(async () => (await states(live))[1] === 'pending', 'the delivery to wait');
  await sending.dispatcher.connected('telegram');
  await live.clock.advance(59_000);
  assert.equal(live.simulator.log.length, 3);
  await live.clock.advance(1000);
  await until(() => visible(live).length === 2, 'the second delivery');
});

test('what could not be delivered for too long is given up visibly, and what is newer goes out', async () => {
  await using live = await openLiveAccount();
  await send(live, 'old');
  await live.clock.advance(25 * hour);
  await send(live, 'new');
  await using _sending = startSending(live);
  await until(() => visible(live).length === 1, 'the newer one');
  assert.deepEqual(visible(live), ['new']);
  const [failed] = await live.store.read((db) => failedDeliveries(db, 5));
  assert.match(failed?.error ?? '', /^expired/);
});

test('a row that was being sent when its process ended is repeated once with a mark, before what follows it', async () => {
  await using live = await openLiveAccount();
  await send(live, 'one');
  await send(live, 'two');
  await live.store.write((tx) => tx.q.updateTable('outbox').set({ state: 'sending', attempts: 1 }).where('key', '=', 'key:one').execute());
  await using _sending = startSending(live);
  await until(async () => (await states(live))[0] === 'unknown', 'the row to be found');
  await live.clock.advance(2000);
  await until(async () => (await states(live)).every((state) => state === 'sent'), 'both to be sent');
  assert.deepEqual(visible(live), ['♻️ Possibly a repeat:\none', 'two']);
});

for (const [age, minutes, shown] of [['young', 1, 'one'], ['old', 3, '♻️ Possibly a repeat:\none']] as const) {
  test(`where a platform knows repeats for two minutes, one that is ${age} is ${age === 'old' ? '' : 'not '}marked`, async () => {
    await using live = await openLiveAccount();
    await send(live, 'one');
    await live.store.write((tx) => tx.q.updateTable('outbox').set({ state: 'sending', attempts: 1 }).execute());
    await live.clock.advance(minutes * 60_000);
    await using _sending = startSending(live, true, { repeatsAreSafe: true, repeatsAreSafeForMs: 120_000 });
    await until(async () => (await states(live))[0] !== 'sending', 'the row to be found');
    await live.clock.advance(2000);
    await until(async () => (await states(live))[0] === 'sent', 'the row to be sent');
    assert.deepEqual(visible(live), [shown]);
  });
}

test('a call that hangs is cut off at the end of the process, and is neither sent nor failed', async () => {
  await using live = await openLiveAccount();
  const sending = startSending(live);
  live.simulator.fail({ what: 'send', fault: { type: 'hang' } });
  await send(live, 'one');
  await until(() => live.simulator.log.length === 1, 'the call');
  await sending.dispatcher.stop(50);
  assert.deepEqual((await outboxOf(live)).map((row) => [row.state, row.repeated]), [['unknown', 1]]);
});

test('chats do not wait for each other', async () => {
  await using live = await openLiveAccount();
  await using _sending = startSending(live);
  live.simulator.fail({ what: 'send', fault: { type: 'hang' } });
  await send(live, 'stuck', '8');
  await until(() => live.simulator.log.length === 1, 'the call that hangs');
  await send(live, 'free');
  await until(() => visible(live).length === 1, 'the other chat');
});
