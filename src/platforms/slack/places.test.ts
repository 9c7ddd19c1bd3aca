import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { manualClock } from '../../lib/clock.ts';
import { announcePlace, openPlaces } from './places.ts';
import { isNewer, msToTs } from './wire.ts';

const place = { teamId: 'T1', channelId: 'C1' };
const thread = { ...place, threadTs: '1700000000.000100' };

const at = (ms: number): string => msToTs(ms);

test('a place is durable as soon as it is known, and how far it is stored a little later', async () => {
  const clock = manualClock();
  const data = openAccountData(':memory:');
  const places = await openPlaces(data, clock);
  const stored = async (): Promise<string | undefined> => (await openPlaces(data, clock)).latest(1)[0]?.lastTs;
  await places.reached(place, at(clock.now()), true);
  assert.equal(await stored(), at(clock.now()));
  await clock.advance(500);
  await places.reached(place, at(clock.now()), false);
  assert.equal(await stored(), at(clock.now() - 500));
  await clock.advance(2000);
  await places.reached(place, at(clock.now()), false);
  assert.equal(await stored(), at(clock.now()));
  await clock.advance(1);
  await places.reached(place, at(clock.now()), true);
  await places.save();
  assert.equal(await stored(), at(clock.now()));
});

test('a place where nobody has spoken with the agent stays unknown, and nothing goes back', async () => {
  const clock = manualClock();
  const places = await openPlaces(openAccountData(':memory:'), clock);
  await places.reached(place, at(clock.now()), false);
  assert.deepEqual([places.has(place), places.latest(9)], [false, []]);
  await places.reached(thread, at(clock.now()), true);
  await places.reached(thread, at(clock.now() - 1000), true);
  assert.deepEqual([places.has(thread), places.has(place)], [true, false]);
  assert.deepEqual(places.latest(9), [{ ...thread, lastTs: at(clock.now()) }]);
});

test('the newest come first, and old ones and nonsense are forgotten', async () => {
  const clock = manualClock();
  const data = openAccountData(':memory:');
  await announcePlace(data, place, at(clock.now() - 1000));
  await announcePlace(data, thread, at(clock.now()));
  await announcePlace(data, { ...place, channelId: 'C2' }, at(clock.now() - 31 * 24 * 3600_000));
  await data.set('place:T1:C3', 'nonsense');
  const places = await openPlaces(data, clock);
  assert.deepEqual(places.latest(9).map(({ threadTs }) => threadTs), [thread.threadTs, undefined]);
  assert.equal((await data.list('place:')).length, 2);
});

test('more than five thousand are not kept', async () => {
  const clock = manualClock();
  const data = openAccountData(':memory:');
  for (let i = 0; i < 5000; i += 1) await announcePlace(data, { ...place, channelId: `C${i}` }, at(clock.now() - 10_000 + i));
  const places = await openPlaces(data, clock);
  await places.reached({ ...place, channelId: 'CNEW' }, at(clock.now()), true);
  assert.deepEqual([places.has({ ...place, channelId: 'C0' }), places.has({ ...place, channelId: 'C1' }), places.has({ ...place, channelId: 'CNEW' })], [false, true, true]);
  assert.equal((await data.list('place:')).length, 5000);
});

test('timestamps are compared as Slack means them', () => {
  assert.ok(isNewer('1700000000.000101', '1700000000.000100'));
  assert.ok(isNewer('1700000000.1', '1700000000.000100'));
  assert.ok(isNewer('1700000001.000000', '1700000000.999999'));
  assert.ok(!isNewer('1700000000.000100', '1700000000.000100'));
});
