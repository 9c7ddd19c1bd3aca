import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually, openAccount, runAccount, testInbox } from '../../../test/support/discord-account.ts';
import type { Running, TestInbox } from '../../../test/support/discord-account.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformErrorCode } from '../../core/errors.ts';
import type { AccountData } from '../contract.ts';
import type { SimulatedMessage } from '../simulator.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator, DiscordSimulatorOptions } from './simulator.ts';

let simulator: DiscordSimulator;
/** What the account has kept outlives its connections. */
let data: AccountData;
let runs: Running[] = [];

const start = async (options: DiscordSimulatorOptions = {}): Promise<void> => {
  simulator = await startDiscordSimulator(options);
};

beforeEach(async () => {
  data = openAccountData(':memory:');
  await start();
});
afterEach(async () => {
  for (const each of runs.splice(0)) await each.stop();
  assert.deepEqual(simulator.violations(), []);
  await simulator[Symbol.asyncDispose]();
});

/** A connection of a process that has just started: nothing is left but what was stored. */
const run = async (inbox = testInbox(), options: Readonly<Record<string, unknown>> = {}): Promise<Running> => {
  const { adapter } = await openAccount(simulator, options, data);
  const running = await runAccount(adapter, inbox);
  runs.push(running);
  return running;
};

const inDm = (text: string): SimulatedMessage => ({ chatId: simulator.ids.dm, chatType: 'dm', senderId: simulator.ids.person, text });
const inChannel = (text: string, more: Partial<SimulatedMessage> = {}): SimulatedMessage => ({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text, mention: true, ...more });
const inThread = (text: string): SimulatedMessage => ({ chatId: simulator.ids.thread, chatType: 'thread', senderId: simulator.ids.person, text });

const texts = (inbox: TestInbox): readonly string[] => inbox.events.map(({ text }) => text);
const heard = (inbox: TestInbox, ...wanted: readonly string[]): Promise<void> => eventually(() => wanted.every((text) => texts(inbox).includes(text)), `${wanted.join(', ')} arrived`);
const frames = (op: number): number => simulator.gateway.frames.filter((frame) => frame['op'] === op).length;
const [identifies, resumes] = [(): number => frames(2), (): number => frames(6)];
const stored = (inbox: TestInbox): { session?: { id: string; seq: number }; after?: string; tries?: number } => JSON.parse(inbox.cursors.get('session') ?? '{}') as ReturnType<typeof stored>;

const failedWith = async ({ ended }: Running, code: PlatformErrorCode, words: RegExp): Promise<void> => {
  const error = await ended;
  assert.ok(error instanceof PlatformError, String(error));
  assert.deepEqual([error.code, words.test(error.message)], [code, true], error.message);
};

describe('a session', () => {
  it('is taken up again after a break, and what was said meanwhile arrives once', async () => {
    const first = await run();
    await simulator.say(inDm('before'));
    await heard(first.inbox, 'before');
    simulator.gateway.disconnect();
    await failedWith(first, 'unavailable', /closed the connection/);
    simulator.sayMeanwhile(inDm('meanwhile'));
    simulator.sayMeanwhile(inChannel('and here'));
    const second = await run(first.inbox);
    await simulator.say(inDm('after'));
    await heard(second.inbox, 'after', 'and here');
    assert.deepEqual(texts(second.inbox).toSorted(), ['after', 'and here', 'before', 'meanwhile']);
    assert.deepEqual([identifies(), resumes()], [1, 1]);
  });

  it('goes on behind what is stored, so that an event that could not be stored comes again with all behind it', async () => {
    const inbox = testInbox();
    inbox.before = ({ text }) => (text === 'lost' ? Promise.reject(new Error('the disk is full')) : Promise.resolve());
    const first = await run(inbox);
    await simulator.say(inDm('first'));
    await heard(inbox, 'first');
    await simulator.say(inDm('lost'));
    assert.match(String(await first.ended), /disk is full/);
    simulator.sayMeanwhile(inDm('behind'));
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'behind');
    assert.deepEqual(texts(inbox), ['first', 'lost', 'behind']);
    assert.deepEqual([identifies(), resumes()], [1, 1]);
  });

  it('keeps the order within a channel when one of its events cannot be stored', async () => {
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = ({ text }) => (text === 'one' ? gate.promise : Promise.resolve());
    const first = await run(inbox);
    for (const text of ['one', 'two']) await simulator.say(inDm(text));
    await simulator.say(inChannel('elsewhere'));
    await heard(inbox, 'elsewhere');
    gate.reject(new Error('no'));
    await first.ended;
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'two');
    assert.deepEqual(texts(inbox), ['elsewhere', 'one', 'two']);
  });

  it('counts an event as seen in heartbeats only when it is stored', async () => {
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = () => gate.promise;
    await run(inbox);
    await simulator.say(inDm('slow'));
    await eventually(() => inbox.offered.length === 1);
    const before = simulator.gateway.frames.findLast((frame) => frame['op'] === 1)?.['d'];
    gate.resolve();
    await eventually(() => Number(simulator.gateway.frames.findLast((frame) => frame['op'] === 1)?.['d']) > Number(before ?? 0), 'a later heartbeat covers it');
  });

  it('is written down when the connection ends', async () => {
    const { inbox, stop } = await run();
    const id = await simulator.say(inDm('last words'));
    await heard(inbox, 'last words');
    await stop();
    assert.deepEqual([stored(inbox).session?.id, stored(inbox).session?.seq, stored(inbox).after], ['session1', 3, id]);
  });

  it('survives that Discord asks us to connect anew', async () => {
    const first = await run();
    await simulator.say(inDm('one'));
    await heard(first.inbox, 'one');
    simulator.gateway.broadcast({ op: 7, d: null });
    await failedWith(first, 'unavailable', /connect anew/);
    const second = await run(first.inbox);
    await simulator.say(inDm('two'));
    await heard(second.inbox, 'two');
    assert.equal(resumes(), 1);
  });

  it('that is never given back is given up for a new one', async () => {
    const { inbox, stop } = await run();
    await simulator.say(inDm('one'));
    await heard(inbox, 'one');
    await stop();
    simulator.gateway.silent = true;
    for (let times = 0; times < 3; times += 1) {
      const attempt = await run(inbox);
      await eventually(() => (stored(inbox).tries ?? 0) > times, 'the try is counted');
      await attempt.stop();
    }
    simulator.gateway.silent = false;
    await run(inbox);
    await simulator.say(inDm('two'));
    await heard(inbox, 'two');
    assert.equal(identifies(), 2);
  });
});

describe('when a session is over', () => {
  /** Somebody has spoken everywhere; then the connection is gone for good. */
  const lose = async (options: Readonly<Record<string, unknown>> = {}): Promise<TestInbox> => {
    const { inbox, stop } = await run(testInbox(), options);
    await simulator.say(inDm('dm before'));
    await simulator.say(inChannel('channel before'));
    await simulator.say(inThread('thread before'));
    await heard(inbox, 'dm before', 'channel before', 'thread before');
    await stop();
    simulator.gateway.invalidate = true;
    return inbox;
  };

  /** The connection that learns that the session is over, and the next. */
  const comeBack = async (inbox: TestInbox, options: Readonly<Record<string, unknown>> = {}): Promise<Running> => {
    await failedWith(await run(inbox, options), 'unavailable', /session/);
    return run(inbox, options);
  };

  it('a new one begins, and what was missed is fetched from every channel, in order and once', async () => {
    const inbox = await lose();
    for (const say of [inDm, inChannel, inThread]) for (const text of ['a', 'b']) simulator.sayMeanwhile(say(`${text} in ${say.name}`));
    await comeBack(inbox);
    await heard(inbox, 'b in inDm', 'b in inChannel', 'b in inThread');
    await simulator.say(inDm('now'));
    await heard(inbox, 'now');
    const missed = (place: string) => texts(inbox).filter((text) => text.endsWith(place));
    assert.deepEqual(['inDm', 'inChannel', 'inThread'].map(missed), [['a in inDm', 'b in inDm'], ['a in inChannel', 'b in inChannel'], ['a in inThread', 'b in inThread']]);
    assert.equal(inbox.events.length, 10);
    assert.deepEqual(inbox.events.filter(({ text }) => text.endsWith('inThread')).map(({ chat }) => [chat.type, chat.threadId, chat.parentId, chat.scopeId])[0], ['thread', simulator.ids.thread, simulator.ids.text, simulator.ids.guild]);
  });

  it('changes of messages from before are found where somebody has spoken since, and in direct chats', async () => {
    const { inbox, stop } = await run();
    const [dm, first, second] = [await simulator.say(inDm('dm')), await simulator.say(inChannel('first')), await simulator.say(inChannel('second'))];
    await heard(inbox, 'dm', 'first', 'second');
    await simulator.edit(simulator.ids.text, second, 'second, changed');
    await eventually(() => inbox.events.length === 4);
    await stop();
    simulator.gateway.invalidate = true;
    simulator.giveRoles(simulator.ids.person, ['555']);
    simulator.editMeanwhile(simulator.ids.dm, dm, 'dm, changed');
    simulator.editMeanwhile(simulator.ids.text, first, `<@${simulator.ids.bot}> first, changed`);
    simulator.sayMeanwhile(inChannel('new'));
    await comeBack(inbox);
    await heard(inbox, 'dm, changed', 'first, changed', 'new');
    const found = inbox.events.slice(4).map(({ kind, messageId, text, sender }) => [kind, messageId, text, sender.roles?.[0]]);
    assert.deepEqual(found.filter(([, id]) => id === dm || id === first).toSorted(), [['edit', dm, 'dm, changed', undefined], ['edit', first, 'first, changed', '555']]);
    assert.equal(found.length, 3);
  });

  it('more than a page is fetched, and live messages wait for their turn', async () => {
    const inbox = await lose();
    const wanted = Array.from({ length: 230 }, (_, index) => `missed ${index}`);
    for (const text of wanted) simulator.sayMeanwhile(inChannel(text));
    await comeBack(inbox);
    await simulator.say(inChannel('live'));
    await heard(inbox, 'live');
    assert.deepEqual(texts(inbox).filter((text) => text.startsWith('missed') || text === 'live'), [...wanted, 'live']);
  });

  it('every direct chat is asked, a few at a time', async () => {
    const inbox = await lose();
    const chats = Array.from({ length: 30 }, (_, index) => `20000000000000000${String(index).padStart(2, '0')}`);
    for (const chatId of chats) await data.set(`dm:${chatId}`, String(Date.now()));
    for (const chatId of chats) simulator.sayMeanwhile({ ...inDm(`in ${chatId}`), chatId });
    simulator.fail({ what: 'any', fault: { type: 'delay', ms: 10 }, count: 60 });
    await comeBack(inbox);
    await heard(inbox, ...chats.map((chatId) => `in ${chatId}`));
    assert.ok(simulator.mostAtOnce() <= 6, `${simulator.mostAtOnce()} calls at once`);
  });

  it('a gap that could not be closed is closed by the next connection', async () => {
    const inbox = await lose();
    for (const text of ['one', 'two', 'three']) simulator.sayMeanwhile(inChannel(text));
    inbox.before = ({ text }) => (text === 'two' ? Promise.reject(new Error('full')) : Promise.resolve());
    const broken = await comeBack(inbox);
    assert.match(String(await broken.ended), /full/);
    simulator.gateway.invalidate = false;
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'three');
    assert.deepEqual(texts(inbox).slice(-3), ['one', 'two', 'three']);
  });

  it('a limit on the way is waited out', async () => {
    const inbox = await lose();
    simulator.sayMeanwhile(inChannel('missed'));
    simulator.limits.channels.set(simulator.ids.text, 0.05);
    const back = comeBack(inbox);
    await eventually(() => simulator.log.some(({ status, path }) => status === 429 && path.includes('/messages')));
    simulator.limits.channels.clear();
    await back;
    await heard(inbox, 'missed');
  });

  it('nothing older than the owner wants is fetched', async () => {
    const inbox = await lose();
    simulator.sayMeanwhile(inChannel('missed'));
    const running = await comeBack(inbox, { catch_up_hours: 0 });
    await simulator.say(inChannel('now'));
    await heard(running.inbox, 'now');
    assert.ok(!texts(inbox).includes('missed'));
  });

  it('people keep the roles they have there', async () => {
    simulator.giveRoles(simulator.ids.person, ['555']);
    const inbox = await lose();
    simulator.sayMeanwhile(inChannel('missed'));
    await comeBack(inbox);
    await heard(inbox, 'missed');
    const rolesOf = (text: string) => inbox.events.find((event) => event.text === text)?.sender.roles;
    assert.deepEqual([rolesOf('channel before'), rolesOf('missed'), rolesOf('dm before')], [['555'], ['555'], undefined]);
  });

  it('the first start of an account fetches nothing', async () => {
    simulator.sayMeanwhile(inChannel('long ago'));
    const { inbox } = await run();
    await simulator.say(inChannel('now'));
    await heard(inbox, 'now');
    assert.deepEqual(texts(inbox), ['now']);
  });
});

describe('a connection', () => {
  it('whose heartbeats are not answered is over', async () => {
    await simulator[Symbol.asyncDispose]();
    await start({ heartbeatMs: 60 });
    const running = await run();
    await simulator.say(inDm('one'));
    await heard(running.inbox, 'one');
    simulator.gateway.silent = true;
    await failedWith(running, 'unavailable', /heartbeats are not answered/);
  });

  it('that answers heartbeats and delivers nothing is found out, and what it kept back is fetched', async () => {
    const options = { probe_seconds: 0.2 };
    const running = await run(testInbox(), options);
    await simulator.say(inDm('one'));
    await heard(running.inbox, 'one');
    await eventually(() => frames(8) > 0, 'it has asked how it is answered');
    simulator.gateway.goDeaf();
    simulator.sayMeanwhile(inDm('unheard'));
    await failedWith(running, 'unavailable', /delivers nothing/);
    await run(running.inbox, options);
    await heard(running.inbox, 'unheard');
    assert.deepEqual([identifies(), resumes(), texts(running.inbox)], [2, 0, ['one', 'unheard']]);
  });

  it('that is only quiet is left alone', async () => {
    const running = await run(testInbox(), { probe_seconds: 0.1 });
    await simulator.say(inDm('one'));
    await eventually(() => frames(8) > 4, 'it has asked several times');
    await simulator.say(inDm('two'));
    await heard(running.inbox, 'two');
    assert.equal(identifies(), 1);
  });

  for (const [code, kind, words] of [
    [4004, 'bad_credential', /DISCORD_BOT_TOKEN/],
    [4014, 'bad_credential', /Message Content Intent/],
    [4011, 'unavailable', /too many servers.*platforms\.discord\.shards/],
  ] as const) {
    it(`that is refused with ${code} says what to do`, async () => {
      simulator.gateway.refuseWith = code;
      const running = await run();
      await failedWith(running, kind, words);
      assert.equal(running.inbox.aliveCount(), 0, 'to be greeted is no sign that anything is received');
    });
  }

  it('that speaks another protocol is over', async () => {
    const running = await run();
    simulator.fail({ what: 'receive', fault: { type: 'garbage' } });
    await failedWith(running, 'unavailable', /not its protocol/);
  });

  it('takes in no more than it can store, stays alive meanwhile, and loses nothing by it', async () => {
    await simulator[Symbol.asyncDispose]();
    await start({ heartbeatMs: 60 });
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = ({ chat }) => (chat.type === 'dm' ? gate.promise : Promise.resolve());
    const running = await run(inbox);
    await simulator.gateway.ready();
    const count = 3000;
    for (let index = 0; index < count; index += 1) {
      simulator.sayMeanwhile(inDm(String(index)));
      if (index === 1000) simulator.sayMeanwhile(inChannel('a thousand wait'));
    }
    await heard(inbox, 'a thousand wait');
    const beats = frames(1);
    await eventually(() => frames(1) > beats + 4, 'it is still alive');
    gate.resolve();
    await eventually(() => inbox.events.length === count + 1, 'everything arrived');
    assert.deepEqual(texts(inbox).filter((text) => /^\d+$/.test(text)), Array.from({ length: count }, (_, index) => String(index)));
    assert.equal(await Promise.race([running.ended, Promise.resolve('alive')]), 'alive');
  });

  it('ends also in the middle of storing', async () => {
    const inbox = testInbox();
    inbox.before = () => new Promise(() => undefined);
    const running = await run(inbox);
    await simulator.say(inDm('slow'));
    await eventually(() => inbox.offered.length === 1);
    await running.stop();
    assert.equal(await running.ended, undefined);
  });

  it('shows signs of life', async () => {
    await simulator[Symbol.asyncDispose]();
    await start({ heartbeatMs: 30 });
    const { inbox } = await run();
    await eventually(() => inbox.aliveCount() > 3);
  });
});
