import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openAccountData } from '../../../../test/support/account-data.ts';
import { manualClock } from '../../../lib/clock.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { readEvent } from '../wire.ts';
import { newUndecrypted, unreadableEvent } from './undecrypted.ts';

const eventOf = (id: string, session: string) =>
  readEvent({ event_id: id, type: 'm.room.encrypted', sender: '@a:x', origin_server_ts: 1, content: { session_id: session, ciphertext: 'x' } }) ?? assert.fail();

it('people are told of messages that cannot be read after a while, and once for all of one key, also across a restart', async () => {
  using data = openAccountData(':memory:');
  const clock = manualClock();
  const kept = newUndecrypted({ data, clock, log: silentLogger });
  for (const [id, session] of [['$1', 's1'], ['$2', 's1'], ['$3', 's2']] as const) await kept.keep('!r', eventOf(id, session));
  assert.deepEqual(await kept.untold(), [], 'its key may still come');
  await clock.advance(31_000);
  const untold = async (from = kept): Promise<readonly string[]> => (await from.untold()).map(({ event }) => event.id);
  const [first] = await kept.untold();
  assert.ok(first !== undefined);
  await kept.told(first);
  assert.deepEqual(await untold(), ['$3']);
  const afterRestart = newUndecrypted({ data, clock, log: silentLogger });
  assert.deepEqual(await untold(afterRestart), ['$3']);
  const event = unreadableEvent('matrix', first, true);
  assert.deepEqual([event.addressed, event.nativeId, event.messageId], [true, 'unreadable:$1', '$1']);
});

it('messages are tried again at the start and when keys may have come, oldest first, for a week', async () => {
  using data = openAccountData(':memory:');
  const clock = manualClock();
  const kept = newUndecrypted({ data, clock, log: silentLogger });
  const due = async (): Promise<readonly string[]> => (await kept.due()).map(({ event }) => event.id);
  await kept.keep('!r', eventOf('$1', 's1'));
  assert.deepEqual(await due(), ['$1']);
  assert.deepEqual(await due(), []);
  kept.keysCame();
  assert.deepEqual(await due(), ['$1']);
  await clock.advance(8 * 24 * 3600_000);
  kept.keysCame();
  assert.deepEqual(await due(), []);
  assert.deepEqual(await data.list('undecrypted:'), []);
});
