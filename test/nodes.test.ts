import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../src/lib/clock.ts';
import type { Clock } from '../src/lib/clock.ts';
import { insertInboxItem } from '../src/store/messages/inbox.ts';
import { turnLane } from '../src/store/lanes/lanes.ts';
import { inMs } from '../src/store/store.ts';
import { noPostgresReason } from './support/postgres.ts';
import { sampleEvent } from './support/samples.ts';
import { emptyPostgres } from './support/stores.ts';
import { callsTo, heldAnswer, inboxRows, numbered, outboxRows, saidBy, turnRows } from './support/scenes.ts';
import { newWorld, startInside, until } from './support/whole.ts';
import type { Inside, World } from './support/whole.ts';

/** The database's time decides here; only looking again happens sooner. */
const hurried: Clock = { now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };

const plainly = { display: { streaming: false, busy_ack_enabled: false, busy_input_mode: 'queue' } };

interface Shared extends AsyncDisposable {
  readonly world: World;
  readonly url: string;
}

/** A world whose gateways share one PostgreSQL. */
const newShared = async (changes: Readonly<Record<string, unknown>> = plainly): Promise<Shared> => {
  const database = await emptyPostgres();
  const world = await newWorld({ ...changes, store: { database_url: database.url } });
  return {
    world,
    url: database.url,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await database.drop();
    },
  };
};

const holderOf = async ({ store }: Inside): Promise<string | null | undefined> => (await store.read((db) => db.q.selectFrom('accounts').select('owner').where('account', '=', 'telegram').executeTakeFirst()))?.owner;

const settled = async ({ store }: Inside, count: number): Promise<boolean> => {
  const rows = await outboxRows(store);
  return rows.length === count && rows.every((row) => row.state === 'sent');
};

/** As if the time of every lease that an owner holds were over. */
const expireLeases = (survivor: Inside, owner: string): Promise<void> =>
  survivor.store.write(async (tx) => {
    await tx.q.updateTable('lanes').set({ lease_until: inMs(tx, -1) }).where('owner', '=', owner).execute();
    await tx.q.updateTable('accounts').set({ lease_until: 0 }).where('owner', '=', owner).execute();
  });

describe('gateways on PostgreSQL', { concurrency: true, ...(noPostgresReason !== undefined && { skip: noPostgresReason }) }, () => {
  test('one of them answers, remembers across a restart, and drops what comes again', async () => {
    await using shared = await newShared();
    const { world } = shared;
    let id = '';
    {
      await using inside = await startInside(world);
      id = await world.say('one');
      await until(() => settled(inside, 1), 'the answer');
    }
    await using inside = await startInside(world);
    await world.telegram.redeliver(id);
    await world.say('two');
    await until(() => settled(inside, 2), 'the second answer');
    assert.deepEqual(world.shown(), ['re: one', 're: two']);
    assert.ok(JSON.stringify(world.model.requests.at(-1)?.body.messages).includes('re: one'));
    assert.equal(world.model.requests.length, 2);
  });

  test('ten messages survive the end of their gateway: each is answered once, in order', async () => {
    await using shared = await newShared({ ...plainly, agent: { restart_drain_timeout: 0 } });
    const { world } = shared;
    const texts = numbered(10);
    const slow = heldAnswer();
    world.model.otherwise(slow.answer);
    {
      await using inside = await startInside(world);
      for (const text of texts) await world.say(text);
      await until(async () => slow.held() === 1 && (await inboxRows(inside.store)).length === 10, 'ten to be stored');
    }
    slow.open();
    await using inside = await startInside(world);
    await until(() => settled(inside, 10), 'ten answers');
    assert.deepEqual(world.shown(), texts.map((text) => `re: ${text}`));
    assert.deepEqual(await saidBy(inside.store, 'user'), texts);
  });

  test('two of them: one receives, both answer and send, nothing is doubled', async () => {
    await using shared = await newShared();
    const { world } = shared;
    const allowed_users = Array.from({ length: 12 }, (_, i) => String(100 + i));
    await world.configure({ ...plainly, agent: { max_concurrent_turns: 4 }, store: { database_url: shared.url }, platforms: { telegram: { ...world.telegram.options, allowed_users } } });
    const slow = heldAnswer();
    world.model.otherwise(slow.answer);
    await using first = await startInside(world, { clock: hurried });
    await until(async () => first.gateway.status().some((status) => status.account === 'telegram' && status.state === 'connected'), 'the first to hold the account');
    await using second = await startInside(world, { clock: hurried });
    await until(() => second.gateway.status().some((status) => status.account === 'telegram' && status.errorCode === 'held'), 'the second to stand by');
    for (const senderId of allowed_users) await world.say(`from ${senderId}`, { chatId: senderId, senderId });
    await until(() => first.gateway.runningTurns > 0 && second.gateway.runningTurns > 0 && slow.held() === 8, 'both to be at work');
    slow.open();
    await until(() => settled(first, 12), 'all answers');
    for (const senderId of allowed_users) assert.deepEqual(world.shown(senderId), [`re: from ${senderId}`]);
    assert.equal(callsTo(world.telegram, '100', ['sendMessage']).length, 1);
    assert.equal(world.model.requests.length, 12);
    assert.equal(world.telegram.log.filter((call) => call.method === 'getUpdates' && call.status === 409).length, 0);
    assert.equal((await first.store.read((db) => db.q.selectFrom('accounts').select('state').where('account', '=', 'telegram').executeTakeFirstOrThrow())).state, 'connected');
  });

  test('a command that its gateway has left behind waits for one that has the account, and is not refused by another', async () => {
    await using shared = await newShared();
    const { world } = shared;
    const telegram = { ...world.telegram.options, allowed_users: ['7'] };
    const common = { ...plainly, store: { database_url: shared.url } };
    await world.configure({ ...common, platforms: { telegram: { ...telegram, enabled: false } } });
    {
      await using other = await startInside(world);
      const event = sampleEvent({ chat: { id: '7', type: 'dm' }, sender: { id: '7', isBot: false }, text: '/new' });
      await other.store.write((tx) => insertInboxItem(tx, { event, class: 'control', decisions: [], place: { lane: turnLane('s1'), sessionId: 's1', sessionKey: 'agent:main:telegram:dm:7' } }));
      await other.gateway.takeOver();
      assert.deepEqual((await inboxRows(other.store)).map(({ state }) => state), ['waiting']);
    }
    await world.configure({ ...common, platforms: { telegram } });
    await using inside = await startInside(world);
    await until(() => settled(inside, 1), 'the answer');
    assert.match(world.shown()[0] ?? '', /New conversation/);
  });

  test('/stop reaches the one that runs the turn', async () => {
    await using shared = await newShared({ ...plainly, agent: { max_concurrent_turns: 4 } });
    const { world } = shared;
    await using first = await startInside(world);
    await until(() => first.gateway.status().some((status) => status.account === 'telegram' && status.state === 'connected'), 'the first to hold the account');
    await using second = await startInside(world);
    const stuck = heldAnswer();
    world.model.otherwise(stuck.answer);
    await until(() => second.gateway.status().some((status) => status.errorCode === 'held'), 'the second to stand by');
    for (let i = 0; i < 8; i += 1) await world.say('stuck', { chatId: String(-900 - i), chatType: 'group' });
    await until(() => stuck.held() === 8, 'all to run');
    assert.deepEqual([first.gateway.runningTurns, second.gateway.runningTurns], [4, 4]);
    for (let i = 0; i < 8; i += 1) await world.say('/stop', { chatId: String(-900 - i), chatType: 'group' });
    await until(() => first.gateway.runningTurns + second.gateway.runningTurns === 0, 'all to be free');
    await until(async () => (await turnRows(first.store)).every((turn) => turn.state === 'done' && turn.exit_reason === 'stopped'), 'all turns to be over');
    await until(async () => (await outboxRows(first.store)).every(({ state }) => state === 'sent'), 'all answers to be recorded');
    for (let i = 0; i < 8; i += 1) assert.deepEqual(world.shown(String(-900 - i)), ['⏹ Stopped.']);
  });

  test('when one goes away without a word the other takes over its account and its turns; nothing is lost or doubled', async () => {
    await using shared = await newShared({ ...plainly, agent: { restart_drain_timeout: 0 } });
    const { world } = shared;
    const stuck = heldAnswer();
    world.model.otherwise(stuck.answer);
    const first = await startInside(world);
    await until(() => first.gateway.status().some((status) => status.account === 'telegram' && status.state === 'connected'), 'the first to hold the account');
    await world.say('one');
    await until(() => first.gateway.runningTurns === 1 && stuck.held() === 1, 'the first to run a turn');
    const dead = (await holderOf(first)) ?? '';
    await using second = await startInside(world, { clock: hurried });
    await until(() => second.gateway.status().some((status) => status.account === 'telegram' && status.errorCode === 'held'), 'the second to stand by');
    // From here on the first can neither read nor write: to everybody else it is dead.
    await first.store.close();
    await expireLeases(second, dead);
    await until(async () => second.gateway.status().some((status) => status.account === 'telegram' && status.state === 'connected'), 'the second to hold the account');
    await until(() => second.gateway.runningTurns === 1, 'the second to take the turn up');
    stuck.open();
    await until(() => settled(second, 1), 'the answer');
    await world.say('two');
    await until(() => settled(second, 2), 'the next answer');
    await first.gateway.stop();
    assert.deepEqual(world.shown(), ['re: one', 're: two']);
    assert.deepEqual(await saidBy(second.store, 'user'), ['one', 'two']);
    assert.deepEqual((await turnRows(second.store)).map((turn) => [turn.state, turn.attempts]), [['done', 2], ['done', 1]]);
  });
});
