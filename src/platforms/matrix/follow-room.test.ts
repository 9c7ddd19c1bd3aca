import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { aMoment, eventually, eventWith, failure, never, newInbox } from '../conformance-bench.ts';
import type { BenchInbox, Running } from '../conformance-bench.ts';
import { alice, direct, following, group, message, openAccount, runAccount, textsOf } from './matrix.test-support.ts';
import type { MatrixAccount } from './matrix.test-support.ts';
import { newSdk } from './sdk.test-support.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';
import { addEvent, membershipOf, setMembership } from './simulator/world.ts';
import type { Room } from './simulator/world.ts';

let simulator: MatrixSimulator;
let account: MatrixAccount;
let running: Running;

const start = async (options: Readonly<Record<string, unknown>> = {}, inbox: BenchInbox = newInbox()): Promise<BenchInbox> => {
  account = await openAccount(simulator, { options });
  running = await runAccount(account.adapter, inbox);
  await following(simulator);
  return inbox;
};

beforeEach(async () => {
  simulator = await startMatrixSimulator();
});
afterEach(async () => {
  await running.stop();
  account[Symbol.dispose]();
  await simulator[Symbol.asyncDispose]();
});

const isIn = (room: Room): boolean => membershipOf(room, simulator.bot.id) === 'join';
const invite = (room: Room, by = alice): unknown => setMembership(simulator.world, room, { userId: simulator.bot.id, membership: 'invite', sender: by });
const say = (room: Room, body: string, more: Readonly<Record<string, unknown>> = {}): string => simulator.put(room.id, alice, 'm.room.message', { msgtype: 'm.text', body, ...more });
const inRoom = (room: Room, text: string) => message(text, { target: { account: 'matrix', chatId: room.id, chatType: 'dm' } });
const logged = (line: string): Promise<string> => eventually(() => account.lines.find((each) => each.includes(line)), `"${line}" is logged`);

describe('a room that was upgraded is followed', () => {
  it('when the account is invited: everything goes on there, and what was said before it came is heard', async () => {
    const inbox = await start();
    await simulator.say({ chatId: direct.chatId, chatType: 'dm', senderId: alice, text: 'before' });
    await eventWith(inbox, 'before');
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice });
    say(room, 'said before anybody was invited');
    close();
    invite(room);
    const first = await eventWith(inbox, 'said before anybody was invited');
    assert.deepEqual([isIn(room), first.chat.id, first.chat.type], [true, room.id, 'dm']);
    assert.deepEqual(inbox.moves, [{ from: direct.chatId, to: room.id, withoutThreads: true }]);
    say(room, 'after');
    await eventWith(inbox, 'after');
    assert.deepEqual(textsOf(inbox).filter((text) => text !== ''), ['before', 'said before anybody was invited', 'after']);
    const { facts } = await failure(account.adapter.send(message('too late for the old room'), never), 'chat_gone');
    assert.equal(facts.movedToChatId, room.id);
    await account.adapter.send(inRoom(room, 'here'), never);
    assert.deepEqual(simulator.visible(room.id).map(({ text }) => text), ['here']);
    const listed = await account.adapter.directory?.list(never);
    assert.deepEqual(listed?.map(({ id }) => id).toSorted(), [group.chatId, room.id].toSorted(), 'the old room is nobody\'s target any more');
  });

  it('when anybody may join, and stays a direct chat', async () => {
    const inbox = await start();
    const { accountData } = simulator.world.users.get(simulator.bot.id) ?? assert.fail();
    const marked = simulator.invite({ inviter: '@bob:sim.test', isDirect: true });
    await eventually(() => accountData.get('m.direct'), 'the direct chat is marked');
    const { room, close } = simulator.upgrade(marked.id, { by: '@bob:sim.test', joinRule: 'public', joins: ['@carol:sim.test', alice] });
    close();
    await eventually(() => inbox.moves[0], 'it has followed');
    assert.deepEqual(accountData.get('m.direct')?.content, { '@bob:sim.test': [marked.id, room.id] });
    const join = simulator.log.find(({ path }) => path.endsWith(`/join/${room.id}`));
    assert.deepEqual(join?.query, { server_name: 'sim.test', via: 'sim.test' });
    say(room, 'still between us');
    assert.equal((await eventWith(inbox, 'still between us')).chat.type, 'dm');
  });

  it('when it is there already, before anything that comes with the news', async () => {
    const inbox = await start();
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice, invites: [simulator.bot.id] });
    await eventually(() => isIn(room), 'the invitation is followed');
    const order: string[] = [];
    const { moved } = inbox;
    inbox.moved = async (move) => {
      order.push('moved');
      await moved(move);
    };
    inbox.before = async ({ kind, text }) => void (kind === 'message' && order.push(text));
    say(room, 'hello');
    close();
    await eventually(() => order.length === 2, 'both have come');
    assert.deepEqual(order, ['moved', 'hello']);
  });

  it('when many messages were written before it came, and when a room is upgraded twice', async () => {
    const inbox = await start({ free_response_rooms: [group.chatId], allowed_rooms: [group.chatId], auto_thread: false });
    const first = simulator.upgrade(group.chatId, { by: alice, joins: ['@carol:sim.test'] });
    const texts = Array.from({ length: 120 }, (_, i) => `meanwhile ${i}`);
    for (const text of texts) say(first.room, text);
    first.close();
    invite(first.room);
    await eventWith(inbox, 'meanwhile 119');
    assert.deepEqual(inbox.events.filter(({ kind }) => kind === 'message').map(({ text, addressed }) => [text, addressed]), texts.map((text) => [text, true]), 'lists that name the old room mean the new one');
    const second = simulator.upgrade(first.room.id, { by: alice, joins: ['@carol:sim.test'], invites: [simulator.bot.id] });
    second.close();
    await eventually(() => inbox.moves[1], 'it has followed again');
    say(second.room, 'and again');
    assert.equal((await eventWith(inbox, 'and again')).addressed, true);
    assert.deepEqual(inbox.moves.map(({ from, to }) => [from, to]), [[group.chatId, first.room.id], [first.room.id, second.room.id]]);
  });

  it('after a failure in the middle, from the same answer again', async () => {
    const inbox = await start();
    inbox.moved = () => Promise.reject(new Error('the disk is full'));
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice, joinRule: 'public' });
    say(room, 'hello');
    close();
    await running.ended;
    const moves: string[] = [];
    running = await runAccount(account.adapter, { ...inbox, moved: async ({ to }) => void moves.push(to) });
    await eventually(() => running.inbox.events.some(({ text }) => text === 'hello'), 'what was said there is heard');
    assert.deepEqual([...new Set(moves)], [room.id]);
  });

  it('and the homeserver\'s own SDK upgrades rooms of the simulator', async () => {
    const inbox = await start();
    const sdk = newSdk(simulator, 'SDK');
    const { replacement_room: to } = await sdk.upgradeRoom(direct.chatId, '12');
    await logged('matrix.room.not_followed');
    await sdk.invite(to, simulator.bot.id);
    await eventually(() => inbox.moves[0], 'it has followed');
    assert.equal(inbox.moves[0]?.to, to);
  });
});

describe('a room that was upgraded is not followed', () => {
  it('before somebody invites the account, and what is to be said waits with a sentence that says so', async () => {
    const inbox = await start();
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice });
    close();
    assert.match(await logged('matrix.room.not_followed'), /invite the agent into the new room/);
    const error = await failure(account.adapter.send(message('the answer'), never), 'unavailable');
    assert.match(error.message, new RegExp(`replaced by ${room.id}.*invite it there`));
    assert.deepEqual([inbox.moves.length, isIn(room)], [0, false]);
    invite(room);
    await eventually(() => inbox.moves[0], 'it has followed');
    assert.equal((await failure(account.adapter.send(message('the answer'), never), 'chat_gone')).facts.movedToChatId, room.id);
  });

  it('when the stream has not told of it yet, what is to be said waits as well', async () => {
    await start();
    await running.stop();
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice });
    close();
    const error = await failure(account.adapter.send(message('the answer'), never), 'unavailable');
    assert.match(error.message, new RegExp(`replaced by ${room.id}`));
  });

  it('on the word of somebody who may not call it', async () => {
    const base = newInbox();
    const inbox: BenchInbox = { ...base, accept: async (event) => (event.kind === 'join' ? 'denied' : base.accept(event)) };
    await start({}, inbox);
    const { room, close } = simulator.upgrade(group.chatId, { by: '@mallory:sim.test', joinRule: 'public' });
    close();
    assert.match(await logged('matrix.room.not_followed'), /somebody who may talk to the agent has to invite it/);
    await aMoment();
    assert.deepEqual([isIn(room), inbox.moves.length], [false, 0]);
  });

  it('on the word of the new room alone', async () => {
    const inbox = await start();
    // It claims to be the successor; nobody in the old room has said so.
    const { room } = simulator.upgrade(direct.chatId, { by: '@mallory:sim.test' });
    invite(room, '@mallory:sim.test');
    await eventually(() => isIn(room), 'the invitation is followed');
    simulator.put(room.id, '@mallory:sim.test', 'm.room.message', { msgtype: 'm.text', body: 'go on then' });
    await eventWith(inbox, 'go on then');
    assert.deepEqual(inbox.moves, []);
    await account.adapter.send(message('in the old room'), never);
  });

  it('from an encrypted room into one that is not', async () => {
    const inbox = await start();
    const old = simulator.world.rooms.get(direct.chatId) ?? assert.fail();
    addEvent(simulator.world, old, { type: 'm.room.encryption', sender: alice, stateKey: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
    const { room, close } = simulator.upgrade(direct.chatId, { by: alice, encrypted: false, invites: [simulator.bot.id] });
    close();
    assert.match(await logged('matrix.room.not_followed'), /the old room is encrypted, and the new one is not/);
    say(room, 'anew');
    await eventWith(inbox, 'anew');
    assert.deepEqual(inbox.moves, []);
    await failure(account.adapter.send(message('nowhere'), never), 'forbidden');
  });
});
