import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { openStoredData } from '../../../test/support/stored-data.ts';
import { manualClock } from '../../lib/clock.ts';
import type { HttpEnv } from '../client.ts';
import { newFailureLimiter } from '../failure-limiter.ts';
import { ApiError } from './api-error.ts';
import { Callers } from './callers.ts';

test('of many keys that are tried at once from one address the right one does not get through', async () => {
  await using data = await openStoredData();
  const clock = manualClock();
  const callers = new Callers({ store: data.store, clock, limiter: newFailureLimiter({ clock }), trustedProxies: [], key: 'the-key-of-the-owner' });
  const app = new Hono<HttpEnv>();
  app.get('/', async (c) => c.text((await callers.identify(c)).id));
  app.onError((error) => new Response(null, { status: error instanceof ApiError ? error.status : 500 }));
  const call = async (key: string, remoteAddress: string): Promise<number> => (await app.request('/', { headers: { authorization: `Bearer ${key}` } }, { incoming: { socket: { remoteAddress } } })).status;
  const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => call(i === 40 ? 'the-key-of-the-owner' : `wrong-${i}`, '203.0.113.9')));
  assert.equal(statuses[40], 429);
  assert.deepEqual(await Promise.all(Array.from({ length: 60 }, () => call('the-key-of-the-owner', '203.0.113.10'))), Array.from({ length: 60 }, () => 200));
});
