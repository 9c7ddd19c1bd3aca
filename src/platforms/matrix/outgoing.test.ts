import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { openAccountData } from '../../../test/support/account-data.ts';
import { manualClock } from '../../lib/clock.ts';
import { failure, never } from '../conformance-bench.ts';
import { newApi } from './api.ts';
import { newHttp } from './http.ts';
import { direct } from './matrix.test-support.ts';
import { matrixOptions } from './options.ts';
import { newOutgoing } from './outgoing.ts';
import { newRooms } from './rooms.ts';
import { startMatrixSimulator } from './simulator.ts';
import type { MatrixSimulator } from './simulator.ts';
import { addEvent } from './simulator/world.ts';

let simulator: MatrixSimulator;

beforeEach(async () => {
  simulator = await startMatrixSimulator();
});
afterEach(() => simulator[Symbol.asyncDispose]());

it('the word that a room is not encrypted is trusted for a minute, and only while changes would be heard of', async () => {
  using data = openAccountData(':memory:');
  const options = matrixOptions.parse(simulator.options);
  const api = newApi(newHttp(options.homeserver, 5000, { token: async () => options.access_token ?? '', refused: async (error) => error }));
  const clock = manualClock();
  const outgoing = newOutgoing({ api, rooms: newRooms(data), options, clock, crypto: async () => undefined });
  let keys = 0;
  const post = (): Promise<string> => outgoing.post({ roomId: direct.chatId, type: 'm.room.message', content: { msgtype: 'm.text', body: 'x' }, txn: `t${(keys += 1)}` }, never);
  const asked = (): number => simulator.log.filter(({ path }) => path.includes('/state/m.room.encryption')).length;

  for (let times = 0; times < 2; times += 1) await post();
  assert.equal(asked(), 2, 'nobody would tell of a change');
  outgoing.follow(true);
  for (let times = 0; times < 3; times += 1) await post();
  assert.equal(asked(), 3);
  await clock.advance(61_000);
  await post();
  assert.equal(asked(), 4);
  const room = simulator.world.rooms.get(direct.chatId) ?? assert.fail();
  addEvent(simulator.world, room, { type: 'm.room.encryption', sender: '@alice:sim.test', stateKey: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } });
  outgoing.follow(false);
  outgoing.follow(true);
  await failure(post(), 'unsupported');
});
