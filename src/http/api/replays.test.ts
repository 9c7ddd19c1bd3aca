import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { eachStore } from '../../../test/support/stores.ts';
import type { Store } from '../../store/store.ts';
import type { HttpEnv } from '../client.ts';
import { ApiError } from './api-error.ts';
import type { Caller } from './callers.ts';
import { Replays, TakenMeanwhile } from './replays.ts';
import type { NamedCall } from './replays.ts';

const caller: Caller = { id: 'k1', name: 'k1', scopes: ['chat'], limits: {} };

/** A call that has come to a gateway under the name `once`. */
const arrive = async (replays: Replays, asked: unknown): Promise<NamedCall> => {
  const taken = Promise.withResolvers<NamedCall | undefined>();
  const app = new Hono<HttpEnv>();
  app.post('/', async (c) => {
    taken.resolve(await replays.take(c, caller, asked));
    return c.text('');
  });
  await app.request('/', { method: 'POST', headers: { 'idempotency-key': 'once' } });
  return (await taken.promise) ?? assert.fail('the call has a name');
};

const keep = (store: Store, call: NamedCall, answer: string): Promise<void> => store.write((tx) => call.keepIn(tx, answer));

eachStore((_engine, open) => {
  test('a call that comes to two gateways at once is carried out by one of them, and the other answers the same', async () => {
    const { store, another } = await open();
    const second = await another();
    const calls = [await arrive(new Replays(store), 'hello'), await arrive(new Replays(second), 'hello')] as const;
    assert.deepEqual(calls.map(({ earlier }) => earlier), [undefined, undefined]);
    const ends = await Promise.allSettled([keep(store, calls[0], 'run 1'), keep(second, calls[1], 'run 2')]);
    const kept = ends.findIndex(({ status }) => status === 'fulfilled');
    const [failed, ...others] = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as unknown);
    assert.ok(failed instanceof TakenMeanwhile && others.length === 0);
    assert.equal(failed.earlier, `run ${kept + 1}`);
  });

  test('another call under the same name is refused, wherever it comes', async () => {
    const { store, another } = await open();
    const [first, other] = [await arrive(new Replays(store), 'hello'), await arrive(new Replays(await another()), 'bye')];
    await keep(store, first, 'run 1');
    await assert.rejects(keep(store, other, 'run 2'), (error) => error instanceof ApiError && error.status === 409);
  });
});
