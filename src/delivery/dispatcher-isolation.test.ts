import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLiveAccount } from '../../test/support/live-account.ts';
import type { LiveAccount } from '../../test/support/live-account.ts';
import { toChat } from '../../test/support/telegram-account.ts';
import { until } from '../../test/support/until.ts';
import { PlatformError } from '../core/errors.ts';
import type { Adapter } from '../platforms/contract.ts';
import { failedDeliveries } from '../store/messages/outbox.ts';
import type { DeliveryOutcome } from './dispatcher.ts';
import { enqueueTo, fenceOf, hour, judging, outboxOf, passUntil, shownIn, startDispatcher } from './dispatcher.test-support.ts';

const atWork = { target: toChat('7', { account: 'telegram@work' }) };

/** More chats than one account has places for. */
const enqueueMany = async (live: LiveAccount, count = 80): Promise<readonly string[]> => {
  const chats = Array.from({ length: count }, (_, i) => String(1000 + i));
  for (const chat of chats) await enqueueTo(live, chat, `to ${chat}`);
  return chats;
};

/** Takes calls of the one account and never answers them; the other works. */
const oneHangs = (live: LiveAccount) => {
  let held = 0;
  const stuck = judging(live, (_message, signal) => {
    held += 1;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new PlatformError('aborted', 'aborted')), { once: true }));
  });
  const names = ['telegram', 'telegram@work'];
  return { names, held: () => held, adapter: (account: string): Adapter | undefined => (account === 'telegram' ? stuck : live.connections.adapter(account)) };
};

test('an account that takes calls and does not answer holds up no other', async () => {
  await using live = await openLiveAccount();
  const accounts = oneHangs(live);
  await using _sending = startDispatcher(live, accounts);
  await enqueueMany(live);
  await until(() => accounts.held() === 64, 'all its places to be taken');
  await enqueueTo(live, '7', 'hello', atWork);
  await until(() => shownIn(live, '7').length === 1, 'the delivery of the other account');
  assert.equal(accounts.held(), 64);
});

test('what was waiting at the start is found behind the many chats of an account that does not answer', async () => {
  await using live = await openLiveAccount();
  const accounts = oneHangs(live);
  await enqueueMany(live, 150);
  await live.clock.advance(1);
  await enqueueTo(live, '7', 'hello', atWork);
  await using _sending = startDispatcher(live, accounts);
  await passUntil(live, 1000, () => shownIn(live, '7').length === 1, 'the delivery of the other account');
});

test('a message that fails again and again while others get through is given up visibly, and its chat goes on in order', async () => {
  await using live = await openLiveAccount();
  let tries = 0;
  const outcomes: DeliveryOutcome[] = [];
  const adapter = judging(live, ({ text }) => {
    if (text !== 'poison') return;
    tries += 1;
    throw new PlatformError('unavailable', '500 internal server error');
  });
  await using _sending = startDispatcher(live, { adapter: () => adapter, onOutcome: (outcome) => outcomes.push(outcome) });
  for (const text of ['first', 'poison', 'next', 'last']) await enqueueTo(live, '7', text);
  let elsewhere = 0;
  const steps = async (): Promise<boolean> => {
    await enqueueTo(live, '8', `elsewhere ${(elsewhere += 1)}`);
    return shownIn(live, '7').length === 3;
  };
  await passUntil(live, 10_000, steps, 'the chat to go on');
  assert.deepEqual(shownIn(live, '7'), ['first', 'next', 'last']);
  assert.ok(tries > 10 && tries < 60, `${tries} tries`);
  const [failed] = await live.store.read((db) => failedDeliveries(db, 5));
  assert.match(failed?.error ?? '', /^unavailable: 500 .*given up after \d+ tries/);
  assert.equal(outcomes.filter(({ outcome, code }) => outcome === 'failed' && code === 'unavailable').length, 1);
});

test('while nothing of the account gets through, nothing is given up before its time', async () => {
  await using live = await openLiveAccount();
  let tries = 0;
  let isDown = true;
  const adapter = judging(live, () => {
    tries += 1;
    if (isDown) throw new PlatformError('unavailable', '502 bad gateway');
  });
  await using _sending = startDispatcher(live, { adapter: () => adapter });
  for (const chat of ['7', '8']) for (const text of ['one', 'two']) await enqueueTo(live, chat, `${text} in ${chat}`);
  await passUntil(live, 10_000, () => tries > 40, 'many tries of each chat');
  isDown = false;
  await passUntil(live, 10_000, async () => (await outboxOf(live)).every(({ state }) => state === 'sent'), 'all to be sent');
  for (const chat of ['7', '8']) assert.deepEqual(shownIn(live, chat), [`one in ${chat}`, `two in ${chat}`]);
});

test('a gateway without the account leaves its deliveries to the one that has it', async () => {
  await using live = await openLiveAccount();
  await using _without = startDispatcher(live, { owner: 'without', adapter: () => undefined });
  await using _with = startDispatcher(live, { owner: 'with' });
  for (const text of ['one', 'two', 'three']) {
    await enqueueTo(live, '7', text);
    await until(() => shownIn(live, '7').at(-1) === text, `${text}, though no time passes`);
  }
});

test('what has waited for a connection goes out as soon as it is there, however much it is', async () => {
  await using live = await openLiveAccount();
  let isConnected = false;
  const chats = await enqueueMany(live);
  await using sending = startDispatcher(live, { adapter: (account) => (isConnected ? live.connections.adapter(account) : undefined) });
  await live.clock.advance(5000);
  assert.ok((await outboxOf(live)).every(({ state, attempts }) => state === 'pending' && attempts === 0));
  isConnected = true;
  await sending.dispatcher.connected('telegram');
  await until(() => chats.every((chat) => shownIn(live, chat).length === 1), 'all of it, though no time passes');
});

test('what is meant for an account that no gateway has any more is given up in time, visibly', async () => {
  await using live = await openLiveAccount();
  for (const text of ['one', 'two']) await enqueueTo(live, '7', text);
  const before = await fenceOf(live);
  await live.clock.advance(24 * hour - 30_000);
  await using sending = startDispatcher(live, { names: [], adapter: () => undefined });
  await sending.dispatcher.connected('telegram');
  await live.clock.advance(5000);
  assert.deepEqual((await outboxOf(live)).map(({ state }) => state), ['pending', 'pending']);
  assert.equal(await fenceOf(live), before, 'nobody claims what he cannot deliver');
  await passUntil(live, 10_000, async () => (await outboxOf(live)).every(({ state }) => state === 'failed'), 'both to be given up');
  assert.deepEqual((await live.store.read((db) => failedDeliveries(db, 5))).map(({ error }) => error?.split(':')[0]), ['expired', 'expired']);
});
