import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { applySync, newRooms, roomName, unknownRoom } from './rooms.ts';

const state = (type: string, content: object, key = '') => ({ type, state_key: key, sender: '@a:x', content });

it('that a room is encrypted is never taken back, whoever saves what', async () => {
  using data = openAccountData(':memory:');
  const rooms = newRooms(data);
  await Promise.all([rooms.save('!r', { ...unknownRoom, encrypted: true }), rooms.save('!r', { ...unknownRoom, name: 'Team' })]);
  assert.deepEqual(await rooms.facts('!r'), { ...unknownRoom, encrypted: true, name: 'Team' });
  assert.equal((await newRooms(data).facts('!r'))?.encrypted, true, 'nor by a restart');
  assert.equal(applySync({ ...unknownRoom, encrypted: true }, { state: { events: [state('m.room.encryption', {})] } }).encrypted, true);
});

it('a failure to store is not taken for success', async () => {
  using data = openAccountData(':memory:');
  let isFull = true;
  const set: typeof data.set = (key, value) => (isFull ? Promise.reject(new Error('the disk is full')) : data.set(key, value));
  const rooms = newRooms({ ...data, set });
  await assert.rejects(rooms.save('!r', { ...unknownRoom, encrypted: true }));
  isFull = false;
  await rooms.save('!r', { ...unknownRoom, encrypted: true });
  assert.equal((await newRooms(data).facts('!r'))?.encrypted, true);
});

it('a room is what its state says, and is called by its name, its address, or those in it', () => {
  const first = applySync(unknownRoom, {
    state: { events: [state('m.room.create', { type: 'm.space' }), state('m.room.name', { name: 'Team' }), state('m.room.member', {}, '@a:x')] },
    timeline: { events: [state('m.room.topic', { topic: 'Work' }), state('m.room.canonical_alias', { alias: '#team:x' })] },
    summary: { 'm.joined_member_count': 2, 'm.invited_member_count': 1, 'm.heroes': ['@a:x'] },
  });
  assert.deepEqual(first, { encrypted: false, isSpace: true, name: 'Team', topic: 'Work', alias: '#team:x', members: 3, heroes: ['@a:x'] });
  const nameless = applySync(first, { timeline: { events: [state('m.room.name', { name: '' })] } });
  assert.deepEqual([roomName(first), roomName(nameless), roomName({ ...unknownRoom, heroes: ['@a:x', '@b:x'] }), roomName(unknownRoom)], ['Team', '#team:x', '@a:x, @b:x', undefined]);
});

it('direct chats are those that our account data names', async () => {
  using data = openAccountData(':memory:');
  await newRooms(data).saveDirect({ '@a:x': ['!1', '!2'], '@b:x': ['!3'] });
  assert.deepEqual([...(await newRooms(data).direct())], ['!1', '!2', '!3']);
});
