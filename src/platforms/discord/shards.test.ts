import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { testInbox } from '../../../test/support/test-inbox.ts';
import type { TestInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import { PlatformError } from '../../core/errors.ts';
import { newChains } from '../../lib/chains.ts';
import { manualClock } from '../../lib/clock.ts';
import { discordConnections, heard, textsOf } from './discord.test-support.ts';
import { inRow } from './receive.ts';
import { shardOf } from './shards.ts';
import { list, record } from './wire.ts';

describe('a bot for which Discord wants several connections', () => {
  const discord = discordConnections();
  const { run, inDm, inChannel, frames } = discord;
  const texts = (inbox: TestInbox): readonly string[] => textsOf(inbox).toSorted();

  beforeEach(() => {
    discord.simulator.gateway.shards = 2;
    discord.simulator.gateway.maxConcurrency = 16;
  });

  const bothReady = (sessions = 2): Promise<void> => until(() => discord.simulator.gateway.sessions >= sessions, 'both connections');
  const introduced = (): readonly string[] => frames(2).map((frame) => list(record(frame['d'])?.['shard']).join('/')).toSorted();

  it('opens as many as are recommended, and hears servers and direct chats once each', async () => {
    const { inbox } = await run();
    await bothReady();
    assert.equal(shardOf(discord.simulator.ids.guild, 2), 1);
    await discord.simulator.say(inDm('in private'));
    await discord.simulator.say(inChannel('in a server'));
    await heard(inbox, 'in private', 'in a server');
    assert.deepEqual([texts(inbox), introduced()], [['in a server', 'in private'], ['0/2', '1/2']]);
  });

  it('takes all of them up again when one was lost, and nothing is lost or doubled', async () => {
    const first = await run();
    await bothReady();
    for (const say of [inDm, inChannel]) await discord.simulator.say(say(`before ${say.name}`));
    await heard(first.inbox, 'before inDm', 'before inChannel');
    discord.simulator.gateway.disconnect();
    assert.ok((await first.ended) instanceof PlatformError);
    for (const say of [inDm, inChannel]) discord.simulator.sayMeanwhile(say(`meanwhile ${say.name}`));
    await run(first.inbox);
    await heard(first.inbox, 'meanwhile inDm', 'meanwhile inChannel');
    assert.deepEqual(texts(first.inbox), ['before inChannel', 'before inDm', 'meanwhile inChannel', 'meanwhile inDm']);
    assert.deepEqual([frames(2).length, frames(6).length], [2, 2]);
  });

  it('is divided anew when it has grown, and what was said meanwhile is fetched', async () => {
    discord.simulator.gateway.shards = 1;
    const first = await run();
    for (const say of [inDm, inChannel]) await discord.simulator.say(say(`before ${say.name}`));
    await heard(first.inbox, 'before inDm', 'before inChannel');
    await first.stop();
    discord.simulator.gateway.shards = 2;
    discord.simulator.gateway.invalidate = true;
    for (const say of [inDm, inChannel]) discord.simulator.sayMeanwhile(say(`meanwhile ${say.name}`));
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
    await discord.simulator.say(inChannel('hello'));
    await heard(inbox, 'hello');
    assert.deepEqual(introduced(), ['0/3', '1/3', '2/3']);
    const tooFew = await run(testInbox(), { shards: 1 });
    assert.match(String(await tooFew.ended), /4011.*platforms\.discord\.shards/);
  });

  it('is left alone while it is only quiet, also where a connection hears of no server', async () => {
    const { inbox } = await run(testInbox(), { probe_seconds: 0.1 });
    await bothReady();
    await discord.simulator.say(inDm('one'));
    await until(() => frames(8).length > 4, 'it has asked several times');
    await discord.simulator.say(inChannel('two'));
    await heard(inbox, 'one', 'two');
    assert.equal(frames(2).length, 2);
  });

  it('does not begin when fewer sessions may begin than it needs', async () => {
    discord.simulator.gateway.startsLeft = 1;
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
    await until(() => clock.waiting() > 0);
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
