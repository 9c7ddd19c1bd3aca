import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../lib/clock.ts';
import { somewhere } from '../turn.test-support.ts';
import { ToolError } from './contract.ts';
import type { ToolContext } from './contract.ts';
import { currentTime } from './current-time.ts';

const context: ToolContext = {
  sessionId: 's',
  turnId: 't',
  callId: 'c',
  place: somewhere,
  clock: manualClock(Date.UTC(2026, 6, 1, 12, 5, 9)),
  asyncDelivery: true,
  alive: () => undefined,
  ask: async () => ({ type: 'unattended' }),
};
const run = (args: Record<string, unknown>): Promise<string> => currentTime.run(args, context, new AbortController().signal);

test('the time is told in the zone that was asked for', async () => {
  assert.equal(
    await run({ zone: 'Asia/Kolkata' }),
    'Wednesday, 1 July 2026, 17:35:09\nTime zone: Asia/Kolkata (UTC+05:30), week 27 of 2026\nISO 8601: 2026-07-01T17:35:09+05:30',
  );
});

test('without a zone it is the zone of the machine', async () => {
  assert.match(await run({}), new RegExp(`Time zone: ${Temporal.Now.timeZoneId()} `));
});

test('a zone that does not exist, or is no text, is an error the model can correct', async () => {
  for (const zone of ['Mars/Olympus', 7, '']) {
    await assert.rejects(run({ zone }), (error) => error instanceof ToolError && error.code === 'bad_arguments', String(zone));
  }
});

test('the model reads a schema of the arguments', () => {
  const { parameters } = currentTime.definition;
  assert.equal(parameters['type'], 'object');
  assert.deepEqual(Object.keys(parameters['properties'] as object), ['zone']);
  assert.equal(parameters['required'], undefined);
});
