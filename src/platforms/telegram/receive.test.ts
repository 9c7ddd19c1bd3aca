import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { PlatformError } from '../../core/errors.ts';
import { startTelegramSimulator } from './simulator.ts';
import type { TelegramSimulator } from './simulator.ts';
import { openAccount, runAccount } from '../../../test/support/telegram-account.ts';
import { testInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';

const dm = (text: string, senderId = '7') => ({ chatId: senderId, chatType: 'dm' as const, senderId, text });

const isPlatformError = (code: PlatformError['code']) => (error: unknown) => error instanceof PlatformError && error.code === code;

describe('long polling', () => {
  let simulator: TelegramSimulator;
  beforeEach(async () => {
    simulator = await startTelegramSimulator();
  });
  afterEach(async () => {
    assert.deepEqual(simulator.violations(), []);
    await simulator[Symbol.asyncDispose]();
  });

  it('hands on what people say and confirms it with the next call', async () => {
    const { adapter } = await openAccount(simulator);
    const { inbox, stop } = await runAccount(adapter);
    const id = await simulator.say(dm('hello'));
    await inbox.reached(1);
    assert.equal(inbox.events[0]?.text, 'hello');
    assert.equal(inbox.events[0]?.nativeId, id);
    await until(() => simulator.pending() === 0);
    await stop();
  });

  it('confirms nothing before it is stored', async () => {
    const { adapter } = await openAccount(simulator);
    const inbox = testInbox();
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    inbox.before = () => (begun.resolve(), gate.promise);
    const { stop } = await runAccount(adapter, inbox);
    const confirmed = simulator.acknowledged();
    await simulator.say(dm('slow'));
    await begun.promise;
    assert.equal(simulator.acknowledged(), confirmed);
    gate.resolve();
    await until(() => simulator.acknowledged() === confirmed + 1);
    await stop();
  });

  it('ends with the error when an event cannot be stored, and the event comes again', async () => {
    const { adapter } = await openAccount(simulator);
    const inbox = testInbox();
    inbox.before = () => Promise.reject(new Error('disk full'));
    const { ended } = await runAccount(adapter, inbox);
    await simulator.say(dm('keep me'));
    await assert.rejects(ended, /disk full/);
    assert.equal(simulator.pending(), 1);
    const second = await runAccount(adapter);
    await second.inbox.reached(1);
    assert.equal(second.inbox.events[0]?.text, 'keep me');
    await until(() => simulator.pending() === 0);
    await second.stop();
  });

  it('does not confirm an update behind one of another chat that could not be stored', async () => {
    const { adapter } = await openAccount(simulator);
    const inbox = testInbox();
    inbox.before = (event) => (event.text === 'lost' ? Promise.reject(new Error('no')) : Promise.resolve());
    await simulator.say(dm('first', '1'));
    await simulator.say(dm('lost', '2'));
    await simulator.say(dm('third', '3'));
    const { ended } = await runAccount(adapter, inbox);
    await assert.rejects(ended, /no/);
    assert.deepEqual(inbox.events.map((event) => event.text), ['first', 'third']);
    inbox.before = async () => undefined;
    const second = await runAccount(adapter, inbox);
    await inbox.reached(3);
    assert.deepEqual(inbox.events.map((event) => event.text), ['first', 'third', 'lost']);
    await until(() => simulator.pending() === 0);
    await second.stop();
  });

  it('keeps the order within a chat and lets chats pass each other', async () => {
    const { adapter } = await openAccount(simulator);
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = (event) => (event.text === 'a1' ? gate.promise : Promise.resolve());
    for (const [text, sender] of [['a1', '1'], ['a2', '1'], ['b1', '2'], ['a3', '1']] as const) await simulator.say(dm(text, sender));
    const { stop } = await runAccount(adapter, inbox);
    await inbox.reached(1);
    assert.deepEqual(inbox.events.map((event) => event.text), ['b1']);
    gate.resolve();
    await inbox.reached(4);
    assert.deepEqual(inbox.events.map((event) => event.text), ['b1', 'a1', 'a2', 'a3']);
    await stop();
  });

  it('starts at the stored position, and without one when that is older than a week', async () => {
    const offsetOf = async (cursor: string): Promise<unknown> => {
      await using asked = await startTelegramSimulator();
      const { adapter } = await openAccount(asked);
      const inbox = testInbox();
      inbox.cursors.set('offset', cursor);
      const { stop } = await runAccount(adapter, inbox);
      const firstPoll = () => asked.log.find(({ method }) => method === 'getUpdates');
      await until(() => firstPoll() !== undefined);
      await stop();
      return firstPoll()?.params['offset'];
    };
    assert.equal(await offsetOf(`55@${Date.now()}`), 55);
    assert.equal(await offsetOf(`999999999@${Date.now() - 8 * 24 * 3600 * 1000}`), undefined);
    assert.equal(await offsetOf('nonsense'), undefined);
  });

  it('writes the position behind what is stored', async () => {
    const { adapter } = await openAccount(simulator);
    const { inbox, stop } = await runAccount(adapter);
    const update = simulator.deliver({ message: { message_id: 5, date: 1, chat: { id: 1, type: 'private' }, from: { id: 1, is_bot: false, first_name: 'A' }, text: 'x' } });
    await inbox.reached(1);
    await until(() => inbox.cursors.get('offset')?.startsWith(`${update + 1}@`) === true);
    await stop();
  });

  it('has written the last position when it ends', async () => {
    const { adapter } = await openAccount(simulator);
    const { inbox, stop } = await runAccount(adapter);
    for (const text of ['first', 'second', 'third']) {
      const confirmed = simulator.acknowledged();
      await simulator.say(dm(text));
      await until(() => simulator.acknowledged() > confirmed);
    }
    await stop();
    const last = simulator.deliver({ message: { message_id: 5, date: 1, chat: { id: 1, type: 'private' }, from: { id: 1, is_bot: false, first_name: 'A' }, text: 'x' } });
    assert.ok(inbox.cursors.get('offset')?.startsWith(`${last}@`));
  });

  it('takes an event that comes again as the same event', async () => {
    const { adapter } = await openAccount(simulator);
    const { inbox, stop } = await runAccount(adapter);
    const id = await simulator.say(dm('once'));
    await inbox.reached(1);
    await until(() => simulator.pending() === 0);
    const accepted: string[] = [];
    inbox.before = async (event) => void accepted.push(event.nativeId);
    await simulator.redeliver(id);
    await until(() => accepted.length === 1);
    assert.deepEqual(accepted, [id]);
    assert.equal(inbox.events.length, 1);
    await simulator.say(dm('next'));
    await inbox.reached(2);
    await stop();
  });

  it('skips what it does not understand, with the reason in the log, and goes on', async () => {
    const { adapter, lines } = await openAccount(simulator);
    const { inbox, stop } = await runAccount(adapter);
    await simulator.sendUnknownEvent();
    simulator.deliver({ message: 'not a message' });
    simulator.deliver({ message: { message_id: 'x', chat: [], text: 7 } });
    await simulator.say(dm('still here'));
    await inbox.reached(1);
    assert.equal(inbox.events[0]?.text, 'still here');
    const reasons = lines.map((line) => (JSON.parse(line) as { reason?: string }).reason).filter((reason) => reason !== undefined);
    assert.deepEqual(reasons, ['unknown update: hologram', 'malformed message', 'malformed message']);
    await stop();
  });

  it('reports a second poller as a conflict', async () => {
    const first = await runAccount((await openAccount(simulator)).adapter);
    await until(() => first.inbox.aliveCount() > 0 || simulator.log.at(-1)?.method === 'getUpdates');
    const second = await runAccount((await openAccount(simulator)).adapter);
    await assert.rejects(first.ended, isPlatformError('conflict'));
    await second.stop();
  });

  it('ends when aborted in the middle of a poll, long before that is over', async () => {
    const { adapter } = await openAccount(simulator);
    const { stop } = await runAccount(adapter);
    await until(() => simulator.log.at(-1)?.method === 'getUpdates');
    const from = performance.now();
    await stop();
    assert.ok(performance.now() - from < 15_000);
  });

  for (const [fault, code] of [
    [{ type: 'refuse' }, 'unavailable'],
    [{ type: 'garbage' }, 'unavailable'],
    [{ type: 'status', status: 502 }, 'unavailable'],
    [{ type: 'status', status: 401 }, 'bad_credential'],
    [{ type: 'rate_limit', retryAfterMs: 3000 }, 'rate_limited'],
  ] as const) {
    it(`ends with ${code} when a poll meets ${JSON.stringify(fault)}`, async () => {
      const { adapter } = await openAccount(simulator);
      const { ended } = await runAccount(adapter);
      await until(() => simulator.log.at(-1)?.method === 'getUpdates');
      simulator.fail({ what: 'receive', fault });
      await assert.rejects(ended, (error) => isPlatformError(code)(error) && (code !== 'rate_limited' || (error as PlatformError).facts.scope === 'account'));
    });
  }

  it('removes a webhook that stands in the way, without dropping what waits', async () => {
    await using other = await startTelegramSimulator();
    await fetch(`${other.baseUrl}/bot${other.token}/setWebhook`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ url: 'http://127.0.0.1:9/none' }) });
    await other.say(dm('waiting'));
    const { adapter } = await openAccount(other);
    const { inbox, stop } = await runAccount(adapter);
    await inbox.reached(1);
    await stop();
  });
});
