import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { openAccountData } from '../../../test/support/account-data.ts';
import { PlatformError } from '../../core/errors.ts';
import { manualClock } from '../../lib/clock.ts';
import type { ManualClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { aMoment, eventually, eventWith, never, newInbox } from '../conformance-bench.ts';
import type { BenchInbox, Running } from '../conformance-bench.ts';
import type { AccountData } from '../contract.ts';
import { openApi } from './api.ts';
import { slackOptions } from './options.ts';
import { receive } from './receive.ts';
import { startSlackSimulator } from './simulator.ts';
import type { SlackSimulator } from './simulator.ts';
import { receiveBySocket } from './socket-mode.ts';
import { message } from '../../../test/support/test-account.ts';
import { channel, dm, openAccount, runAccount, target } from './slack.test-support.ts';
import { newWorkspaces } from './workspaces.ts';

let simulator: SlackSimulator;

beforeEach(async () => {
  simulator = await startSlackSimulator();
});
afterEach(async () => {
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

const texts = ({ events }: BenchInbox): readonly string[] => events.map(({ text }) => text);

interface RunByHand extends Running {
  /** Lets time pass, with every ping answered, until it is over or the connection is. */
  pass(ms: number): Promise<void>;
}

/** Receives by a clock that the test moves. */
const runByHand = (clock: ManualClock, data: AccountData = openAccountData(':memory:'), given = newInbox()): RunByHand => {
  let alive = 0;
  const course = { isOver: false };
  const inbox: BenchInbox = Object.assign(given, { alive: () => void (alive += 1) });
  const options = slackOptions.parse(simulator.options);
  const stopping = new AbortController();
  const app = openApi(options, options.app_token ?? '');
  const receiving = { account: 'slack', options, workspaces: newWorkspaces(options), data, inbox, log: silentLogger, clock, isCommand: () => false };
  const ended = receive(receiving, (taker, onOpen, signal) => receiveBySocket({ app, open: (url) => new WebSocket(url), clock, log: silentLogger, inbox, taker, onOpen }, signal), stopping.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  void ended.then(() => (course.isOver = true));
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  const pass = async (ms: number): Promise<void> => {
    await eventually(() => simulator.sockets.count > 0, 'the socket is open');
    for (let passed = 0; passed < ms && !course.isOver; passed += 10_000) {
      const heard = alive;
      await clock.advance(10_000);
      await eventually(() => alive > heard || course.isOver, 'a ping was answered');
    }
  };
  return { inbox, ended, stop, pass, [Symbol.asyncDispose]: stop };
};

const isError = (error: unknown, code: string, words: RegExp): void => {
  assert.ok(error instanceof PlatformError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, words);
};

describe('a socket', () => {
  it('is followed by the next one before it ends, and nothing is lost or doubled in between', async () => {
    const { adapter } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    await simulator.say({ ...dm, text: 'before' });
    await eventWith(run.inbox, 'before');
    simulator.sockets.announceEnd('warning');
    await eventually(() => simulator.sockets.opened === 2, 'the next socket is open');
    assert.equal(simulator.sockets.count, 2);
    simulator.sockets.prefer = 'oldest';
    await simulator.say({ ...dm, text: 'on the old one' });
    await eventWith(run.inbox, 'on the old one');
    await eventually(() => simulator.acknowledged() === 2, 'both are acknowledged');
    simulator.sockets.cut('oldest');
    await simulator.say({ ...dm, text: 'on the new one' });
    await eventWith(run.inbox, 'on the new one');
    assert.deepEqual(run.inbox.offered.map(({ text }) => text), ['before', 'on the old one', 'on the new one']);
    await eventually(() => simulator.acknowledged() === 3, 'all are acknowledged');
  });

  it('that is half open is found out', async () => {
    const clock = manualClock(Date.now());
    await using run = runByHand(clock);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    simulator.fail({ what: 'receive', fault: { type: 'hang' } });
    for (let i = 0; i < 5; i += 1) await clock.advance(10_000);
    isError(await run.ended, 'unavailable', /nothing was heard/);
  });

  it('that is quiet but answers pings is kept', async () => {
    const clock = manualClock(Date.now());
    await using run = runByHand(clock);
    await run.pass(120_000);
    assert.equal(simulator.sockets.opened, 1);
    await run.stop();
    assert.equal(await run.ended, undefined);
  });

  for (const [reason, code, words] of [['link_disabled', 'bad_credential', /Socket Mode is switched off/], ['too_many_websockets', 'conflict', /another gateway/]] as const) {
    it(`that ends with ${reason} says what to do`, async () => {
      await using run = await runAccount((await openAccount(simulator)).adapter);
      await eventually(() => simulator.sockets.count === 1, 'the socket is open');
      simulator.sockets.announceEnd(reason);
      isError(await run.ended, code, words);
    });
  }

  it('is refused with a wrong app token', async () => {
    await using run = await runAccount((await openAccount(simulator, { app_token: 'xapp-wrong' })).adapter);
    isError(await run.ended, 'bad_credential', /invalid_auth/);
  });

  it('warns of rights that the app was not given', async () => {
    simulator.withhold('files:read', 'im:history');
    const { adapter, lines } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    assert.deepEqual(lines.filter((line) => line.includes('slack.scopes.missing')).map((line) => (JSON.parse(line) as { scopes: unknown }).scopes), [['files:read', 'im:history']]);
  });

  it('takes no harm from nonsense', async () => {
    await using run = await runAccount((await openAccount(simulator)).adapter);
    await eventually(() => simulator.sockets.count === 1, 'the socket is open');
    simulator.fail({ what: 'receive', fault: { type: 'garbage' } });
    simulator.sockets.say('{"type":"events_api","envelope_id":"1","payload":null}');
    simulator.sockets.say('{"type":"telepathy","envelope_id":"2"}');
    await simulator.say({ ...dm, text: 'still there' });
    await eventWith(run.inbox, 'still there');
  });
});

describe('a socket that answers every ping and delivers nothing', () => {
  it('is found out by the history, whose messages are taken', async () => {
    const clock = manualClock(Date.now());
    await using run = runByHand(clock);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    await simulator.say({ ...channel, text: 'you too', mention: true });
    const { chat } = await eventWith(run.inbox, 'you too');
    simulator.deafen(true);
    await simulator.say({ ...dm, text: 'are you there?' });
    await simulator.say({ ...channel, text: 'and here?', threadId: chat.threadId ?? '' });
    await run.pass(310_000);
    isError(await run.ended, 'unavailable', /2 of the messages/);
    assert.deepEqual(texts(run.inbox), ['hello', 'you too', 'are you there?', 'and here?']);
  });

  it('is not accused when it is simply quiet, or keeps to itself what is not for the agent', async () => {
    const clock = manualClock(Date.now());
    await using run = runByHand(clock);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    await simulator.say({ ...channel, text: 'a question', mention: true });
    await eventWith(run.inbox, 'a question');
    simulator.deafen(true);
    await simulator.say({ ...channel, text: 'among people' });
    await run.pass(900_000);
    await eventually(() => simulator.log.filter(({ method, status }) => method === 'conversations.history' && status === 200).length >= 2, 'the history was looked at twice');
    await aMoment();
    await run.stop();
    assert.equal(await run.ended, undefined);
  });
});

describe('after a gap', () => {
  it('what was said is fetched, in order, once, in chats and threads', async () => {
    const { adapter, data } = await openAccount(simulator);
    const inbox = newInbox();
    const first = await runAccount(adapter, inbox);
    await simulator.say({ ...dm, text: 'one' });
    await simulator.say({ ...channel, text: 'question', mention: true });
    await eventually(() => inbox.events.length === 2, 'both arrived');
    const latest = await simulator.say({ ...dm, text: 'one more' });
    await eventually(() => simulator.acknowledged() === 4, 'all are acknowledged');
    const questions = (): number => inbox.offered.filter(({ text }) => text === 'question').length;
    const before = questions();
    const threadId = inbox.events.find(({ text }) => text === 'question')?.chat.threadId ?? '';
    await first.stop();
    assert.deepEqual(await data.get(`place:T00FAKE00AA:${dm.chatId}`), latest);
    simulator.deafen(true);
    for (const text of ['two', 'three']) await simulator.say({ ...dm, text });
    await simulator.say({ ...channel, text: 'more', threadId });
    await simulator.say({ ...channel, text: 'somebody else talking' });
    await simulator.say({ ...channel, text: 'new question', mention: true });
    simulator.deafen(false);
    const again = await openAccount(simulator, {}, data);
    await using second = await runAccount(again.adapter, inbox);
    await simulator.say({ ...dm, text: 'four' });
    await eventWith(inbox, 'four');
    for (const text of ['new question', 'more']) await eventWith(second.inbox, text);
    assert.equal(questions(), before);
    const of = (chatId: string): readonly string[] => inbox.events.filter(({ chat, addressed }) => chat.id === chatId && addressed).map(({ text }) => text);
    assert.deepEqual(of(dm.chatId), ['one', 'one more', 'two', 'three', 'four']);
    assert.deepEqual(of(channel.chatId).toSorted(), ['more', 'new question', 'question']);
  });

  it('a limit on the history is waited out, and what arrives meanwhile keeps its place', async () => {
    const { adapter, data } = await openAccount(simulator);
    const inbox = newInbox();
    const first = await runAccount(adapter, inbox);
    await simulator.say({ ...dm, text: 'one' });
    await eventWith(inbox, 'one');
    await first.stop();
    simulator.deafen(true);
    await simulator.say({ ...dm, text: 'two' });
    simulator.deafen(false);
    simulator.refuseMethod('conversations.history', { error: 'ratelimited', retryAfterMs: 1000 });
    const hands = manualClock(Date.now());
    let waits = 0;
    const clock: ManualClock = { ...hands, sleep: (ms, signal) => ((waits += ms === 1000 ? 1 : 0), hands.sleep(ms, signal)) };
    await using second = runByHand(clock, data, inbox);
    await eventually(() => waits > 0, 'the limit is waited for');
    await simulator.say({ ...dm, text: 'three' });
    await aMoment();
    assert.deepEqual(texts(inbox), ['one']);
    simulator.refuseMethod('conversations.history', undefined);
    await clock.advance(1000);
    await eventWith(second.inbox, 'three');
    assert.deepEqual(texts(inbox), ['one', 'two', 'three']);
  });

  it('a chat that cannot be read does not keep the others from being heard', async () => {
    const { adapter, data } = await openAccount(simulator);
    const first = await runAccount(adapter);
    await simulator.say({ ...channel, text: 'question', mention: true });
    await eventWith(first.inbox, 'question');
    await first.stop();
    simulator.refuseChannel(channel.chatId, 'not_in_channel');
    await using second = await runAccount((await openAccount(simulator, {}, data)).adapter);
    await simulator.say({ ...dm, text: 'hello' });
    await eventWith(second.inbox, 'hello');
  });

  it('a press does not make what was said before it count as stored', async () => {
    const { adapter, data } = await openAccount(simulator);
    await using run = await runAccount(adapter);
    const ts = await simulator.say({ ...dm, text: 'hello' });
    await eventWith(run.inbox, 'hello');
    const { messageIds } = await adapter.send(message(target(dm), 'well?', { choices: [[{ label: 'Yes', data: 'y' }]] }), never);
    await simulator.press(dm.chatId, messageIds[0] ?? '', 'y', dm.senderId);
    await eventually(() => run.inbox.events.length === 2, 'the press arrived');
    await run.stop();
    assert.equal(await data.get(`place:T00FAKE00AA:${dm.chatId}`), ts);
  });

  it('a thread that we have opened ourselves is looked at, too', async () => {
    const { adapter, data } = await openAccount(simulator);
    const thread = await adapter.threads?.open(target(channel), 'Moved here', never);
    assert.equal(thread?.scopeId, 'T00FAKE00AA');
    simulator.deafen(true);
    await simulator.say({ ...channel, text: 'found it', threadId: thread?.threadId ?? '' });
    simulator.deafen(false);
    await using run = await runAccount((await openAccount(simulator, {}, data)).adapter);
    const { addressed, chat } = await eventWith(run.inbox, 'found it');
    assert.deepEqual([addressed, chat.threadId], [true, thread?.threadId]);
  });
});

describe('what cannot be stored', () => {
  it('ends the connection, is not passed by what came later, and is fetched with the next one', async () => {
    const { adapter, data } = await openAccount(simulator);
    const inbox = newInbox();
    const first = await runAccount(adapter, inbox);
    await simulator.say({ ...dm, text: 'stored' });
    await eventWith(inbox, 'stored');
    await eventually(() => simulator.acknowledged() === 1, 'it is acknowledged');
    inbox.before = async ({ text }) => {
      if (text === 'lost') throw new Error('disk full');
    };
    await simulator.say({ ...dm, text: 'lost' });
    await simulator.say({ ...dm, text: 'after it' });
    assert.match(String(await first.ended), /disk full/);
    assert.deepEqual(texts(inbox), ['stored']);
    assert.equal(simulator.acknowledged(), 1);
    inbox.before = async () => undefined;
    await using _second = await runAccount((await openAccount(simulator, {}, data)).adapter, inbox);
    await eventWith(inbox, 'after it');
    assert.deepEqual(texts(inbox), ['stored', 'lost', 'after it']);
  });
});
