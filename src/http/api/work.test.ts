import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Hono } from 'hono';
import { eachStore } from '../../../test/support/stores.ts';
import { silentLogger } from '../../lib/logger.ts';
import { addApiSpend, spendDay } from '../../store/api/api-keys.ts';
import type { HttpEnv } from '../client.ts';
import { newFailureLimiter } from '../failure-limiter.ts';
import { ApiError } from './api-error.ts';
import { Callers } from './callers.ts';
import type { Caller } from './callers.ts';
import { apiOptions } from './options.ts';
import { newWork } from './work.ts';
import type { Job } from './work.ts';

const caller = (id: string): Caller => ({ id, name: id, scopes: ['chat'], limits: { usdPerDay: 1 } });

eachStore((_engine, open) => {
  const newWorld = async () => {
    const { store, clock } = await open();
    const callers = new Callers({ store, clock, limiter: newFailureLimiter({ clock }), trustedProxies: [], key: undefined });
    const work = newWork({ callers, store, clock, log: silentLogger, options: apiOptions.parse({ max_concurrent_requests: 2 }) });
    /** What becomes of a call of this key. */
    const begin = async (id: string, outgoing?: ServerResponse): Promise<Job | number> => {
      let begun: Job | number | undefined;
      const app = new Hono<HttpEnv>().get('/', async (c) => {
        begun = await work.begin(c, caller(id)).catch((error: unknown) => (error instanceof ApiError ? error.status : assert.fail(String(error))));
        return c.body(null);
      });
      await app.request('/', {}, { outgoing });
      return begun ?? assert.fail();
    };
    return { store, clock, begin };
  };

  test('calls that come at once do not get past the limit together', async () => {
    const { begin } = await newWorld();
    const begun = await Promise.all(['a', 'b', 'c'].map((id) => begin(id)));
    assert.deepEqual(begun.map((each) => typeof each === 'number'), [false, false, true]);
    for (const each of begun) if (typeof each !== 'number') each[Symbol.dispose]();
    assert.notEqual(await begin('c'), 429);
  });

  test('a client that leaves ends the work, also when it has left before that begins', async () => {
    const { begin } = await newWorld();
    const [early, late] = [new ServerResponse(new IncomingMessage(new Socket())), new ServerResponse(new IncomingMessage(new Socket()))];
    early.destroy();
    await once(early, 'close');
    const [gone, there] = [await begin('a', early), await begin('b', late)];
    assert.ok(typeof gone !== 'number' && typeof there !== 'number');
    assert.deepEqual([gone.signal.aborted, there.signal.aborted], [true, false]);
    late.destroy();
    await once(late, 'close');
    assert.equal(there.signal.aborted, true);
  });

  test('work that is done does not look after its client any more', async () => {
    const { begin } = await newWorld();
    const outgoing = new ServerResponse(new IncomingMessage(new Socket()));
    const before = outgoing.listenerCount('close');
    const job = await begin('a', outgoing);
    assert.ok(typeof job !== 'number');
    job[Symbol.dispose]();
    assert.equal(outgoing.listenerCount('close'), before);
  });

  test('a call that its key may not make takes nobody a place', async () => {
    const { store, clock, begin } = await newWorld();
    await store.write((tx) => addApiSpend(tx, { keyId: 'poor', day: spendDay(clock.now()), usd: 2 }));
    for (const _ of [1, 2, 3]) assert.equal(await begin('poor'), 429);
    assert.notEqual(await begin('a'), 429);
  });
});
