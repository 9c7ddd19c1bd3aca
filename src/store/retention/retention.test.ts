import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { manualClock } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { eachStore } from '../../../test/support/stores.ts';
import { accountData } from '../accounts/account-data.ts';
import { closedGates, closeGate } from '../messages/gates.ts';
import { claimLane, enqueueLane, releaseLane } from '../lanes/lanes.ts';
import { readLimit, writeLimit } from '../limits.ts';
import { defaultRetention } from './retention-limits.ts';
import { prune } from './retention.ts';
import type { RetentionLimits } from './retention-limits.ts';
import type { Pruned } from './retention.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';

const dayMs = 86_400_000;

const run = (store: Store, limits: Partial<RetentionLimits> = {}): Promise<Pruned> =>
  prune(store, { ...defaultRetention, ...limits }, { clock: manualClock(), signal: new AbortController().signal });

/** Rows of an age, in a form that only says what matters to retention. */
const plant = {
  inbox: (store: Store, row: { state: string; days: number; lane?: string; doneDays?: number; count?: number }): Promise<unknown> =>
    store.write((tx) =>
      sql`
        insert into inbox (account, chat_id, kind, native_id, class, lane, event, state, decisions, received_at, done_at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(row.count ?? 1)})
        select 'a', 'c', 'message', ${`${row.state} ${row.days} ${row.doneDays ?? ''} `} || i, 'chat', ${row.lane ?? null}, '{}', ${row.state}, '[]',
          ${tx.now} - ${sql.lit(row.days * dayMs)}, ${tx.now} - ${sql.lit((row.doneDays ?? row.days) * dayMs)} from n`.execute(tx.q),
    ),
  outbox: (store: Store, row: { state: string; days: number; lane?: string }): Promise<unknown> =>
    store.write((tx) =>
      sql`
        insert into outbox (key, lane, account, chat_id, target, payload, state, created_at, updated_at)
        values (${`${row.state} ${row.days}`}, ${row.lane ?? 'out:a:c'}, 'a', 'c', '{}', '{}', ${row.state}, 0, ${tx.now} - ${sql.lit(row.days * dayMs)})`.execute(tx.q),
    ),
  turn: (store: Store, row: { state: string; days: number }): Promise<unknown> =>
    store.write((tx) =>
      sql`insert into turns (session_id, lane, state, attempts, target, started_at, ended_at) values ('s', 'l', ${row.state}, 1, '{}', 0, ${tx.now} - ${sql.lit(row.days * dayMs)})`.execute(tx.q),
    ),
  journal: (store: Store, row: { account: string; days: number; count: number }): Promise<unknown> =>
    store.write((tx) =>
      sql`
        insert into journal (account, stream, key, entry, created_at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(row.count)})
        select ${row.account}, 's', ${`${row.days} `} || i, 'e', ${tx.now} - ${sql.lit(row.days * dayMs)} from n`.execute(tx.q),
    ),
  denials: (store: Store, row: { days: number; count: number }): Promise<unknown> =>
    store.write((tx) =>
      sql`
        insert into denials (account, user_id, chat_id, kind, reason, count, first_at, last_at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(row.count)})
        select 'a', ${`${row.days} `} || i, 'c', 'message', 'r', 1, 0, ${tx.now} - ${sql.lit(row.days * dayMs)} - i from n`.execute(tx.q),
    ),
};

const count = async (store: Store, table: keyof Tables): Promise<number> => {
  const row = await store.read((db) => db.q.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow());
  return Number(row.count);
};

eachStore((_engine, open) => {
  test('events that are done go after their time, those that were set aside with their turns, and open ones never', async () => {
    const { store } = await open();
    for (const state of ['waiting', 'running', 'done', 'skipped', 'set_aside', 'cut_off']) for (const days of [13, 15, 400]) await plant.inbox(store, { state, days });
    await plant.inbox(store, { state: 'done', days: 30, doneDays: 3 });
    const { deleted, complete } = await run(store);
    assert.deepEqual([deleted['inbox'], complete], [6, true]);
    const left = await store.read((db) => db.q.selectFrom('inbox').select('native_id').orderBy('id').execute());
    assert.deepEqual(
      left.map((row) => row.native_id.trim()),
      ['waiting 13  1', 'waiting 15  1', 'waiting 400  1', 'running 13  1', 'running 15  1', 'running 400  1', 'done 13  1', 'skipped 13  1', 'set_aside 13  1', 'set_aside 15  1', 'cut_off 13  1', 'done 30 3 1'],
    );
  });

  test('deliveries that are settled go after their time, open ones stay however old', async () => {
    const { store } = await open();
    for (const state of ['pending', 'sending', 'unknown', 'sent', 'failed', 'cancelled']) for (const days of [13, 15]) await plant.outbox(store, { state, days });
    assert.equal((await run(store)).deleted['outbox'], 3);
    const left = await store.read((db) => db.q.selectFrom('outbox').select('key').orderBy('id').execute());
    assert.deepEqual(left.map((row) => row.key), ['pending 13', 'pending 15', 'sending 13', 'sending 15', 'unknown 13', 'unknown 15', 'sent 13', 'failed 13', 'cancelled 13']);
  });

  test('turns go after ninety days unless they run', async () => {
    const { store } = await open();
    for (const state of ['running', 'done', 'set_aside']) for (const days of [89, 91]) await plant.turn(store, { state, days });
    assert.equal((await run(store)).deleted['turns'], 2);
    assert.equal(await count(store, 'turns'), 4);
  });

  test('of each journal the newest entries stay, as many and as long as allowed', async () => {
    const { store } = await open();
    await plant.journal(store, { account: 'old', days: 200, count: 600 });
    await plant.journal(store, { account: 'old', days: 1, count: 5 });
    await plant.journal(store, { account: 'long', days: 2, count: 1500 });
    await plant.journal(store, { account: 'small', days: 1, count: 3 });
    const { deleted } = await run(store, { journalMaxEntries: 700 });
    assert.equal(deleted['journal'], 600 + 800);
    const left = await store.read((db) => db.q.selectFrom('journal').select((eb) => ['account', eb.fn.countAll<number>().as('count'), eb.fn.min('key').as('first')]).groupBy('account').orderBy('account').execute());
    assert.deepEqual(left.map((row) => [row.account, Number(row.count)]), [['long', 700], ['old', 5], ['small', 3]]);
    assert.deepEqual((await accountData(store, 'long').tail({ limit: 1 })).length, 1);
  });

  test('denials go after thirty days, and earlier when there are too many', async () => {
    const { store } = await open();
    await plant.denials(store, { days: 31, count: 1200 });
    await plant.denials(store, { days: 1, count: 40 });
    assert.equal((await run(store)).deleted['denials'], 1200);
    assert.equal(await count(store, 'denials'), 40);
    assert.equal((await run(store, { maxDenials: 25 })).deleted['denials'], 15);
  });

  test('gates that have opened are forgotten', async () => {
    const { store, pass } = await open();
    await store.write((tx) => closeGate(tx, { scope: 'short', forMs: 10, reason: 'r' }));
    await store.write((tx) => closeGate(tx, { scope: 'long', forMs: 60_000, reason: 'r' }));
    await pass(20);
    assert.equal((await run(store)).deleted['gates'], 1);
    assert.deepEqual((await store.read(closedGates)).map((gate) => gate.scope), ['long']);
  });

  test('limits that no longer hold are forgotten', async () => {
    const { store, pass } = await open();
    await store.write((tx) => writeLimit(tx, 'short', { count: 1, forMs: 10 }));
    await store.write((tx) => writeLimit(tx, 'long', { count: 1, forMs: 60_000 }));
    await pass(20);
    assert.equal((await run(store)).deleted['limits'], 1);
    assert.equal((await store.read((db) => readLimit(db, 'long'))).count, 1);
  });

  test('idle lanes are forgotten, and come back with a higher number; lanes with work, an owner or open rows stay', async () => {
    const { store, pass } = await open();
    const lanes = ['turn:idle', 'turn:work', 'turn:owned', 'turn:waits', 'out:a:open'];
    const claims = new Map<string, number>();
    for (const lane of lanes) {
      const claim = await store.write(async (tx) => {
        await enqueueLane(tx, { lane, kind: lane.startsWith('out') ? 'out' : 'turn' });
        const claimed = await claimLane(tx, { lane, owner: 'o', leaseMs: 60_000 });
        if (claimed !== undefined && lane !== 'turn:owned') await releaseLane(tx, claimed, { more: lane === 'turn:work' });
        return claimed;
      });
      claims.set(lane, claim?.fence ?? 0);
    }
    await plant.inbox(store, { state: 'waiting', days: 0, lane: 'turn:waits' });
    await plant.outbox(store, { state: 'unknown', days: 0, lane: 'out:a:open' });
    assert.equal((await run(store)).deleted['lanes'], 1);
    const left = await store.read((db) => db.q.selectFrom('lanes').select('lane').execute());
    assert.deepEqual(left.map((row) => row.lane).toSorted(), lanes.filter((lane) => lane !== 'turn:idle').toSorted());
    await pass(2);
    const again = await store.write(async (tx) => {
      await enqueueLane(tx, { lane: 'turn:idle', kind: 'turn' });
      return claimLane(tx, { lane: 'turn:idle', owner: 'o', leaseMs: 60_000 });
    });
    assert.ok((again?.fence ?? 0) > (claims.get('turn:idle') ?? 0));
  });

  test('processes that were not heard of for a day are forgotten, unless lanes still name them', async () => {
    const { store } = await open();
    await store.write((tx) =>
      sql`insert into nodes (id, kind, pid, host, started_at, seen_at) values ('dead', 'cli', 1, 'h', 0, ${tx.now} - ${sql.lit(2 * dayMs)}), ('holds', 'cli', 1, 'h', 0, 0), ('alive', 'gateway', 1, 'h', 0, ${tx.now})`.execute(tx.q),
    );
    await store.write(async (tx) => {
      await enqueueLane(tx, { lane: 'turn:a', kind: 'turn' });
      await claimLane(tx, { lane: 'turn:a', owner: 'holds', leaseMs: 1 });
    });
    assert.equal((await run(store)).deleted['nodes'], 1);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('nodes').select('id').orderBy('id').execute())).map((row) => row.id), ['alive', 'holds']);
  });

  test('answers of the API that are given again, and prompts of conversations in which nobody speaks any more, go after their time', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      for (const days of [0, 2, 3]) await sql`insert into api_replays (key_id, name, fingerprint, answer, created_at) values ('k', ${`replay ${days}`}, 'f', 'a', ${tx.now} - ${sql.lit(days * dayMs)})`.execute(tx.q);
      for (const days of [89, 91]) {
        await sql`insert into sessions (id, agent, account, chat_type, created_at, active_at) values (${`s${days}`}, 'a', 't', 'dm', 0, ${tx.now} - ${sql.lit(days * dayMs)})`.execute(tx.q);
        await sql`insert into prompts (session_id, fingerprint, text, updated_at) values (${`s${days}`}, 'f', 't', 0)`.execute(tx.q);
      }
    });
    const { deleted } = await run(store);
    assert.deepEqual([deleted['api_replays'], deleted['prompts']], [2, 1]);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('api_replays').select('name').execute())).map((row) => row.name), ['replay 0']);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('prompts').select('session_id').execute())).map((row) => row.session_id), ['s89']);
  });

  test('runs and calls of the API that ended long ago go together, those under way and their events stay', async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      for (const [id, days] of [['old', 31], ['new', 29], ['open', null]] as const) {
        await sql`insert into api_calls (id, key_id, kind, session_id, request, hidden, created_at, ended_at) values (${id}, 'k', 'run', 's', '{}', 0, 0, ${days === null ? null : sql`${tx.now} - ${sql.lit(days * dayMs)}`})`.execute(tx.q);
        for (const seq of [1, 2]) await sql`insert into api_run_events (run_id, seq, kind, event, created_at) values (${id}, ${seq}, 'k', '{}', 0)`.execute(tx.q);
      }
    });
    const { deleted } = await run(store);
    assert.deepEqual([deleted['api_calls'], deleted['api_run_events']], [1, 2]);
    assert.deepEqual((await store.read((db) => db.q.selectFrom('api_calls').select('id').orderBy('id').execute())).map((row) => row.id), ['new', 'open']);
  });

  test('many rows go in batches, until the budget is used up or somebody says stop', async () => {
    const { store } = await open();
    await plant.inbox(store, { state: 'done', days: 20, count: 1700 });
    let nowMs = 0;
    const ticking: Clock = { now: () => (nowMs += 400), sleep: () => Promise.resolve() };
    const partial = await prune(store, defaultRetention, { clock: ticking, signal: new AbortController().signal, budgetMs: 1000 });
    assert.deepEqual(partial, { deleted: { inbox: 1000 }, complete: false });
    assert.deepEqual(await prune(store, defaultRetention, { clock: manualClock(), signal: AbortSignal.abort() }), { deleted: { inbox: 0 }, complete: false });
    assert.equal((await run(store)).deleted['inbox'], 700);
    assert.equal(await count(store, 'inbox'), 0);
  });

  test('conversations are never pruned', async () => {
    const { store } = await open();
    await store.write((tx) => sql`insert into sessions (id, agent, account, chat_type, created_at, active_at, ended_at) values ('s', 'a', 't', 'dm', 0, 0, 0)`.execute(tx.q));
    await store.write((tx) => sql`insert into messages (session_id, role, content, size, active, created_at) values ('s', 'user', 'c', 1, 0, 0)`.execute(tx.q));
    await run(store);
    assert.deepEqual([await count(store, 'sessions'), await count(store, 'messages')], [1, 1]);
  });
});
