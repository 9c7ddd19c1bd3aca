import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { noPostgresReason } from '../../../test/support/postgres.ts';
import { emptyPostgres } from '../../../test/support/stores.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { claimLane, enqueueLane } from '../lanes/lanes.ts';
import type { Store } from '../store.ts';
import { workLimits } from './postgres-pool.ts';
import type { WorkLimits } from './postgres-pool.ts';
import { PostgresStore } from './postgres.ts';

const lane = 'turn:s1';
const enqueue = (store: Store): Promise<unknown> => store.write((tx) => enqueueLane(tx, { lane, kind: 'turn' }));
const look = (store: Store): Promise<unknown> => store.read((db) => db.q.selectFrom('sessions').select('id').execute());

const open = (url: string, limits?: WorkLimits): Promise<PostgresStore> => PostgresStore.open({ url, log: silentLogger, poolSize: 4, clock: systemClock, backups: '', ...(limits !== undefined && { limits }) });

/** A way to the server that can be lost without either side being told. */
const openWay = async (to: string): Promise<{ readonly url: string; lose(): void; close(): Promise<void> }> => {
  const url = new URL(to);
  const folder = url.searchParams.get('host');
  const port = Number(url.port || 5432);
  const pairs: [Socket, Socket][] = [];
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = folder === null ? connect({ host: url.hostname, port }) : connect(`${folder}/.s.PGSQL.${port}`);
    for (const [from, into] of [[near, far], [far, near]] as const) {
      from.pipe(into);
      from.on('error', () => into.destroy());
      from.on('close', () => into.destroy());
    }
    pairs.push([near, far]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    lose: () => {
      for (const [near, far] of pairs) {
        for (const socket of [near, far]) socket.removeAllListeners('close').unpipe().resume();
      }
    },
    close: async () => {
      for (const [near, far] of pairs) [near, far].forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
};

describe('limits of connections at work', noPostgresReason === undefined ? {} : { skip: noPostgresReason }, () => {
  test('a node that stands still in the middle of a transaction loses its locks, and what waited for them is done', async () => {
    const { url, drop } = await emptyPostgres();
    const healthy = await open(url, { ...workLimits, lockMs: 500 });
    const frozen = await open(url, { ...workLimits, pauseMs: 1000 });
    await enqueue(healthy);
    const thaw = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const stalled = frozen.write(async (tx) => {
      await claimLane(tx, { lane, owner: 'frozen', leaseMs: 60_000 });
      held.resolve();
      await thaw.promise;
      await enqueueLane(tx, { lane: 'turn:s2', kind: 'turn' });
    });
    const failed = assert.rejects(stalled, { name: 'StoreError', code: 'unavailable' });
    await held.promise;
    await enqueue(healthy);
    thaw.resolve();
    await failed;
    assert.deepEqual(await healthy.read((db) => db.q.selectFrom('lanes').select(['lane', 'owner']).execute()), [{ lane, owner: null }]);
    assert.equal(await frozen.write(async () => 'works again'), 'works again');
    for (const store of [healthy, frozen]) await store.close();
    await drop();
  });

  test('a connection on which nothing comes any more is given up, at once for all that is left of its transaction', async () => {
    const { url, drop } = await emptyPostgres();
    const way = await openWay(url);
    const store = await open(way.url, { ...workLimits, answerMs: 500 });
    await enqueue(store);
    const lost = store.write(async (tx) => {
      await tx.q.selectFrom('sessions').select('id').execute();
      way.lose();
      await tx.q.selectFrom('sessions').select('id').execute();
    });
    await assert.rejects(lost, { name: 'StoreError', code: 'unavailable' });
    await look(store);
    way.lose();
    await assert.rejects(look(store), { name: 'StoreError', code: 'unavailable' });
    await look(store);
    await store.close();
    await way.close();
    await drop();
  });

  test('whoever waits for a lock in vain leaves the connections to others in between, and fails as busy in the end', async () => {
    const { url, drop } = await emptyPostgres();
    const healthy = await open(url, { ...workLimits, lockMs: 50 });
    const slow = await open(url);
    await enqueue(healthy);
    const go = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = slow.write(async (tx) => {
      await enqueueLane(tx, { lane, kind: 'turn' });
      held.resolve();
      await go.promise;
    });
    await held.promise;
    const waiting = Array.from({ length: 4 }, () => assert.rejects(enqueue(healthy), { name: 'StoreError', code: 'busy' }));
    await look(healthy);
    await Promise.all(waiting);
    go.resolve();
    await holding;
    for (const store of [healthy, slow]) await store.close();
    await drop();
  });

  test('they hold for a store at work, and not while its database is brought up to date', async () => {
    const { url, drop } = await emptyPostgres();
    await (await open(url, { lockMs: 1, pauseMs: 1, answerMs: 1 })).close();
    const store = await open(url);
    const { rows } = await store.read((db) => sql`select current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as pause`.execute(db.q));
    assert.deepEqual(rows, [{ lock: '5s', pause: '10s' }]);
    await store.close();
    await drop();
  });
});
