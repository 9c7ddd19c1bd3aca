import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import { openAccountData } from '../../../test/support/account-data.ts';
import { newCallMemory } from './memory.ts';
import type { Scheme } from './options.ts';
import { open, send, statusOf } from './webhook.test-support.ts';
import type { Sent } from './webhook.test-support.ts';

test('a retry of the sender is known by what stays the same', async () => {
  const cases: readonly (readonly [Scheme, Sent])[] = [
    ['standard', { id: 'same', payload: { n: 1 } }],
    ['svix', { id: 'same-2', payload: { n: 1 } }],
    ['stripe', { payload: { id: 'evt_1' } }],
    ['slack', { payload: { event_id: 'Ev1' } }],
    ['github', { id: 'guid', payload: { n: 1 } }],
    ['gitlab', { id: 'key', payload: { n: 1 } }],
    ['v2', { id: 'request', payload: { n: 1 } }],
    ['v1', { id: 'request', payload: { n: 1 } }],
  ];
  for (const [scheme, sent] of cases) {
    const door = open({});
    assert.deepEqual(await statusOf(send(door, { scheme, ...sent })), [202, 'accepted'], scheme);
    await door.clock.advance(61_000);
    assert.deepEqual(await statusOf(send(door, { scheme, ...sent })), [200, 'duplicate'], scheme);
    assert.equal(door.inbox.events.length, 1, scheme);
  }
});

test('signed bytes are not taken a second time under another name, also when the inbox has forgotten them and the adapter is another', async () => {
  const data = openAccountData(':memory:');
  const clock = manualClock();
  const first = open({}, { data, clock });
  assert.deepEqual(await statusOf(send(first, { scheme: 'github', id: 'delivery-1' })), [202, 'accepted']);
  assert.deepEqual(await statusOf(send(first, { scheme: 'github', id: 'made-up' })), [200, 'duplicate']);
  await clock.advance(30 * 86_400_000);
  const later = open({}, { data, clock });
  assert.deepEqual(await statusOf(send(later, { scheme: 'github', id: 'made-up-again' })), [200, 'duplicate']);
  assert.equal(later.inbox.offered.length, 0);
});

test('a call with a time in its signature is not taken again under another name, and not at all when it is old', async () => {
  const door = open({});
  const atMs = door.clock.now();
  assert.deepEqual(await statusOf(send(door, { scheme: 'v2', id: 'a', atMs })), [202, 'accepted']);
  await door.clock.advance(60_000);
  assert.deepEqual(await statusOf(send(door, { scheme: 'v2', id: 'b', atMs })), [200, 'duplicate']);
  await door.clock.advance(241_000);
  assert.equal((await send(door, { scheme: 'v2', id: 'c', atMs })).status, 401);
});

test('what is remembered of calls is forgotten in the end', async () => {
  const data = openAccountData(':memory:');
  const memory = newCallMemory(data);
  await memory.keep('r', ['old'], 1000);
  await memory.keep('r', ['new'], 5000);
  await memory.forget(3000);
  assert.deepEqual([await memory.knows('r', ['old']), await memory.knows('r', ['new']), await memory.knows('other', ['new'])], [false, true, false]);
  const small = newCallMemory(data, 1);
  for (let n = 0; n < 100; n += 1) await small.keep('r', [`call ${n}`], 10_000 + n);
  await small.forget(0);
  assert.equal((await data.list('seen:')).length, 16);
  assert.ok(await small.knows('r', ['call 99']));
});

test('a call while nothing is received is to be sent again, and counts for nothing', async () => {
  let isAway = true;
  const door = open({ rate_limit: 1 }, { away: () => isAway });
  for (let i = 0; i < 3; i += 1) {
    const refused = await send(door);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  }
  isAway = false;
  assert.equal((await send(door)).status, 202);
});

test('the same body is something new where the route says so, or the payload has an id of its own', async () => {
  const door = open({ repeats: true });
  for (const id of ['a', 'b']) assert.deepEqual(await statusOf(send(door, { scheme: 'v1', id })), [202, 'accepted']);
  const named = open({ id: 'alert.id' });
  for (const [at, [alert, status]] of ([[1, 'accepted'], [2, 'accepted'], [2, 'duplicate']] as const).entries()) {
    assert.equal((await statusOf(send(named, { scheme: 'v2', payload: { alert: { id: alert }, at } })))[1], status);
  }
});

test('a call that could not be stored is to be sent again, and is taken then', async () => {
  const door = open({});
  door.inbox.before = () => Promise.reject(new Error('the disk is full'));
  assert.equal((await send(door, { scheme: 'github', id: 'x' })).status, 503);
  door.inbox.before = async () => undefined;
  assert.deepEqual(await statusOf(send(door, { scheme: 'github', id: 'x' })), [202, 'accepted']);
});
