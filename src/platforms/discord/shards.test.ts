import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually, openAccount, runAccount, testInbox } from '../../../test/support/discord-account.ts';
import type { Running, TestInbox } from '../../../test/support/discord-account.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { PlatformError } from '../../core/errors.ts';
import { newChains } from '../../lib/chains.ts';
import { manualClock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import type { SimulatedMessage } from '../simulator.ts';
import { inRow } from './receive.ts';
import { shardOf } from './shards.ts';
import { startDiscordSimulator } from './simulator.ts';
import type { DiscordSimulator } from './simulator.ts';
import { list, record } from './wire.ts';

describe('a bot for which Discord wants several connections', () => {
  let simulator: DiscordSimulator;
  let data: AccountData;
  let runs: Running[] = [];

  beforeEach(async () => {
    data = openAccountData(':memory:');
    simulator = await startDiscordSimulator();
    simulator.gateway.shards = 2;
    simulator.gateway.maxConcurrency = 16;
  });
  afterEach(async () => {
    for (const each of runs.splice(0)) await each.stop();
    assert.deepEqual(simulator.violations(), []);
    await simulator[Symbol.asyncDispose]();
  });

  const run = async (inbox = testInbox(), options: Readonly<Record<string, unknown>> = {}): Promise<Running> => {
    const running = await runAccount((await openAccount(simulator, options, data)).adapter, inbox);
    runs.push(running);
    return running;
  };
  const bothReady = (sessions = 2): Promise<void> => eventually(() => simulator.gateway.sessions >= sessions, 'both connections');
  const inDm = (text: string): SimulatedMessage => ({ chatId: simulator.ids.dm, chatType: 'dm', senderId: simulator.ids.person, text });
  const inChannel = (text: string): SimulatedMessage => ({ chatId: simulator.ids.text, chatType: 'group', senderId: simulator.ids.person, text, mention: true });
  const texts = (inbox: TestInbox): readonly string[] => inbox.events.map(({ text }) => text).toSorted();
  const heard = (inbox: TestInbox, ...wanted: readonly string[]): Promise<void> => eventually(() => wanted.every((text) => texts(inbox).includes(text)), `${wanted.join(', ')} arrived`);
  const frames = (op: number) => simulator.gateway.frames.filter((frame) => frame['op'] === op);
  const introduced = (): readonly string[] => frames(2).map((frame) => list(record(frame['d'])?.['shard']).join('/')).toSorted();

  it('opens as many as are recommended, and hears servers and direct chats once each', async () => {
    const { inbox } = await run();
    await bothReady();
    assert.equal(shardOf(simulator.ids.guild, 2), 1);
    await simulator.say(inDm('in private'));
    await simulator.say(inChannel('in a server'));
    await heard(inbox, 'in private', 'in a server');
    assert.deepEqual([texts(inbox), introduced()], [['in a server', 'in private'], ['0/2', '1/2']]);
  });

  it('takes all of them up again when one was lost, and nothing is lost or doubled', async () => {
    const first = await run();
    await bothReady();
    for (const say of [inDm, inChannel]) await simulator.say(say(`before ${say.name}`));
    await heard(first.inbox, 'before inDm', 'before inChannel');
    simulator.gateway.disconnect();
    assert.ok((await first.ended) instanceof PlatformError);
    for (const say of [inDm, inChannel]) simulator.sayMeanwhile(say(`meanwhile ${say.name}`));
    await run(first.inbox);
    await heard(first.inbox, 'meanwhile inDm', 'meanwhile inChannel');
    assert.deepEqual(texts(first.inbox), ['before inChannel', 'before inDm', 'meanwhile inChannel', 'meanwhile inDm']);
    assert.deepEqual([frames(2).length, frames(6).length], [2, 2]);
  });

  it('is divided anew when it has grown, and what was said meanwhile is fetched', async () => {
    simulator.gateway.shards = 1;
    const first = await run();
    for (const say of [inDm, inChannel]) await simulator.say(say(`before ${say.name}`));
    await heard(first.inbox, 'before inDm', 'before inChannel');
    await first.stop();
    simulator.gateway.shards = 2;
    simulator.gateway.invalidate = true;
    for (const say of [inDm, inChannel]) simulator.sayMeanwhile(say(`meanwhile ${say.name}`));
    const refused = await run(first.inbox);
    assert.match(String(await refused.ended), /session/);
    await run(first.inbox);
    await heard(first.inbox, 'meanwhile inDm', 'meanwhile inChannel');
    assert.deepEqual(texts(first.inbox), ['before inChannel', 'before inDm', 'meanwhile inChannel', 'meanwhile inDm']);
    assert.deepEqual(introduced(), ['', '0/2', '1/2']);
    assert.equal(first.inbox.cursors.get('shards'), '2');
  });

  it('opens as many as the owner says, and is told what to do when those are too few', async () => {
    const { inbox } = await run(testInbox(), { shards: 3 });
    await bothReady(3);
    await simulator.say(inChannel('hello'));
    await heard(inbox, 'hello');
    assert.deepEqual(introduced(), ['0/3', '1/3', '2/3']);
    const tooFew = await run(testInbox(), { shards: 1 });
    assert.match(String(await tooFew.ended), /4011.*platforms\.discord\.shards/);
  });

  it('is left alone while it is only quiet, also where a connection hears of no server', async () => {
    const { inbox } = await run(testInbox(), { probe_seconds: 0.1 });
    await bothReady();
    await simulator.say(inDm('one'));
    await eventually(() => frames(8).length > 4, 'it has asked several times');
    await simulator.say(inChannel('two'));
    await heard(inbox, 'one', 'two');
    assert.equal(frames(2).length, 2);
  });

  it('does not begin when fewer sessions may begin than it needs', async () => {
    simulator.gateway.startsLeft = 1;
    const { ended } = await run();
    const error = await ended;
    assert.ok(error instanceof PlatformError && error.code === 'rate_limited' && error.facts.retryAfterMs === 14_400_000, String(error));
    assert.equal(frames(2).length, 0);
  });
});

describe('connections of one row', () => {
  it('begin five seconds after the one before was ready, and those of another row do not wait', async () => {
    const clock = manualClock();
    const rows = newChains();
    const { signal } = new AbortController();
    const begun: string[] = [];
    const ready = Promise.withResolvers<void>();
    const begin = (name: string, row: string) => inRow(rows, row, { open: async () => void begun.push(name), ready: () => (name === 'a' ? ready.promise : Promise.resolve()), clock, signal });
    const all = [begin('a', '0'), begin('b', '0'), begin('c', '1')];
    await clock.advance(60_000);
    assert.deepEqual(begun, ['a', 'c']);
    ready.resolve();
    await eventually(() => clock.waiting() > 0);
    await clock.advance(4_999);
    assert.deepEqual(begun, ['a', 'c']);
    await clock.advance(1);
    await Promise.all(all);
    assert.deepEqual(begun, ['a', 'c', 'b']);
  });

  it('do not begin any more when all is over', async () => {
    const over = new AbortController();
    over.abort(new Error('over'));
    await assert.rejects(inRow(newChains(), '0', { open: () => assert.fail('opened'), ready: async () => undefined, clock: manualClock(), signal: over.signal }), /over/);
  });
});
