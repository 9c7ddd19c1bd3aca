import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testInbox } from '../../../test/support/test-inbox.ts';
import type { TestInbox } from '../../../test/support/test-inbox.ts';
import { until } from '../../../test/support/until.ts';
import { discordConnections, failedWith, heard, textsOf } from './discord.test-support.ts';

const discord = discordConnections();
const { run, inDm, inChannel } = discord;
const [identifies, resumes] = [(): number => discord.frames(2).length, (): number => discord.frames(6).length];
const stored = (inbox: TestInbox): { session?: { id: string; seq: number }; after?: string; tries?: number } => JSON.parse(inbox.cursors.get('session') ?? '{}') as ReturnType<typeof stored>;

describe('a session', () => {
  it('is taken up again after a break, and what was said meanwhile arrives once', async () => {
    const first = await run();
    await discord.simulator.say(inDm('before'));
    await heard(first.inbox, 'before');
    discord.simulator.gateway.disconnect();
    await failedWith(first, 'unavailable', /closed the connection/);
    discord.simulator.sayMeanwhile(inDm('meanwhile'));
    discord.simulator.sayMeanwhile(inChannel('and here'));
    const second = await run(first.inbox);
    await discord.simulator.say(inDm('after'));
    await heard(second.inbox, 'after', 'and here');
    assert.deepEqual(textsOf(second.inbox).toSorted(), ['after', 'and here', 'before', 'meanwhile']);
    assert.deepEqual([identifies(), resumes()], [1, 1]);
  });

  it('goes on behind what is stored, so that an event that could not be stored comes again with all behind it', async () => {
    const inbox = testInbox();
    inbox.before = ({ text }) => (text === 'lost' ? Promise.reject(new Error('the disk is full')) : Promise.resolve());
    const first = await run(inbox);
    await discord.simulator.say(inDm('first'));
    await heard(inbox, 'first');
    await discord.simulator.say(inDm('lost'));
    assert.match(String(await first.ended), /disk is full/);
    discord.simulator.sayMeanwhile(inDm('behind'));
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'behind');
    assert.deepEqual(textsOf(inbox), ['first', 'lost', 'behind']);
    assert.deepEqual([identifies(), resumes()], [1, 1]);
  });

  it('keeps the order within a channel when one of its events cannot be stored', async () => {
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = ({ text }) => (text === 'one' ? gate.promise : Promise.resolve());
    const first = await run(inbox);
    for (const text of ['one', 'two']) await discord.simulator.say(inDm(text));
    await discord.simulator.say(inChannel('elsewhere'));
    await heard(inbox, 'elsewhere');
    gate.reject(new Error('no'));
    await first.ended;
    inbox.before = async () => undefined;
    await run(inbox);
    await heard(inbox, 'two');
    assert.deepEqual(textsOf(inbox), ['elsewhere', 'one', 'two']);
  });

  it('counts an event as seen in heartbeats only when it is stored', async () => {
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = () => gate.promise;
    await run(inbox);
    await discord.simulator.say(inDm('slow'));
    await until(() => inbox.offered.length === 1);
    const before = discord.simulator.gateway.frames.findLast((frame) => frame['op'] === 1)?.['d'];
    gate.resolve();
    await until(() => Number(discord.simulator.gateway.frames.findLast((frame) => frame['op'] === 1)?.['d']) > Number(before ?? 0), 'a later heartbeat covers it');
  });

  it('is written down when the connection ends', async () => {
    const { inbox, stop } = await run();
    const id = await discord.simulator.say(inDm('last words'));
    await heard(inbox, 'last words');
    await stop();
    assert.deepEqual([stored(inbox).session?.id, stored(inbox).session?.seq, stored(inbox).after], ['session1', 3, id]);
  });

  it('survives that Discord asks us to connect anew', async () => {
    const first = await run();
    await discord.simulator.say(inDm('one'));
    await heard(first.inbox, 'one');
    discord.simulator.gateway.broadcast({ op: 7, d: null });
    await failedWith(first, 'unavailable', /connect anew/);
    const second = await run(first.inbox);
    await discord.simulator.say(inDm('two'));
    await heard(second.inbox, 'two');
    assert.equal(resumes(), 1);
  });

  it('that is never given back is given up for a new one', async () => {
    const { inbox, stop } = await run();
    await discord.simulator.say(inDm('one'));
    await heard(inbox, 'one');
    await stop();
    discord.simulator.gateway.silent = true;
    for (let times = 0; times < 3; times += 1) {
      const attempt = await run(inbox);
      await until(() => (stored(inbox).tries ?? 0) > times, 'the try is counted');
      await attempt.stop();
    }
    discord.simulator.gateway.silent = false;
    await run(inbox);
    await discord.simulator.say(inDm('two'));
    await heard(inbox, 'two');
    assert.equal(identifies(), 2);
  });
});

describe('a connection', () => {
  it('whose heartbeats are not answered is over', async () => {
    await discord.start({ heartbeatMs: 60 });
    const running = await run();
    await discord.simulator.say(inDm('one'));
    await heard(running.inbox, 'one');
    discord.simulator.gateway.silent = true;
    await failedWith(running, 'unavailable', /heartbeats are not answered/);
  });

  it('that answers heartbeats and delivers nothing is found out, and what it kept back is fetched', async () => {
    const options = { probe_seconds: 0.2 };
    const running = await run(testInbox(), options);
    await discord.simulator.say(inDm('one'));
    await heard(running.inbox, 'one');
    await until(() => discord.frames(8).length > 0, 'it has asked how it is answered');
    discord.simulator.gateway.goDeaf();
    discord.simulator.sayMeanwhile(inDm('unheard'));
    await failedWith(running, 'unavailable', /delivers nothing/);
    await run(running.inbox, options);
    await heard(running.inbox, 'unheard');
    assert.deepEqual([identifies(), resumes(), textsOf(running.inbox)], [2, 0, ['one', 'unheard']]);
  });

  it('that is only quiet is left alone', async () => {
    const running = await run(testInbox(), { probe_seconds: 0.1 });
    await discord.simulator.say(inDm('one'));
    await until(() => discord.frames(8).length > 4, 'it has asked several times');
    await discord.simulator.say(inDm('two'));
    await heard(running.inbox, 'two');
    assert.equal(identifies(), 1);
  });

  for (const [code, kind, words] of [
    [4004, 'bad_credential', /DISCORD_BOT_TOKEN/],
    [4014, 'bad_credential', /Message Content Intent/],
    [4011, 'unavailable', /too many servers.*platforms\.discord\.shards/],
  ] as const) {
    it(`that is refused with ${code} says what to do`, async () => {
      discord.simulator.gateway.refuseWith = code;
      const running = await run();
      await failedWith(running, kind, words);
      assert.equal(running.inbox.aliveCount(), 0, 'to be greeted is no sign that anything is received');
    });
  }

  it('that speaks another protocol is over', async () => {
    const running = await run();
    discord.simulator.fail({ what: 'receive', fault: { type: 'garbage' } });
    await failedWith(running, 'unavailable', /not its protocol/);
  });

  it('takes in no more than it can store, stays alive meanwhile, and loses nothing by it', async () => {
    await discord.start({ heartbeatMs: 60 });
    const inbox = testInbox();
    const gate = Promise.withResolvers<void>();
    inbox.before = ({ chat }) => (chat.type === 'dm' ? gate.promise : Promise.resolve());
    const running = await run(inbox);
    await discord.simulator.gateway.ready();
    const count = 3000;
    for (let index = 0; index < count; index += 1) {
      discord.simulator.sayMeanwhile(inDm(String(index)));
      if (index === 1000) discord.simulator.sayMeanwhile(inChannel('a thousand wait'));
    }
    await heard(inbox, 'a thousand wait');
    const beats = discord.frames(1).length;
    await until(() => discord.frames(1).length > beats + 4, 'it is still alive');
    gate.resolve();
    await until(() => inbox.events.length === count + 1, 'everything arrived');
    assert.deepEqual(textsOf(inbox).filter((text) => /^\d+$/.test(text)), Array.from({ length: count }, (_, index) => String(index)));
    assert.equal(await Promise.race([running.ended, Promise.resolve('alive')]), 'alive');
  });

  it('ends also in the middle of storing', async () => {
    const inbox = testInbox();
    inbox.before = () => new Promise(() => undefined);
    const running = await run(inbox);
    await discord.simulator.say(inDm('slow'));
    await until(() => inbox.offered.length === 1);
    await running.stop();
    assert.equal(await running.ended, undefined);
  });

  it('shows signs of life', async () => {
    await discord.start({ heartbeatMs: 30 });
    const { inbox } = await run();
    await until(() => inbox.aliveCount() > 3);
  });
});
