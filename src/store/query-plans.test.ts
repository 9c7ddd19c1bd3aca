import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import { eachStore } from '../../test/support/stores.ts';
import type { Location } from '../../test/support/stores.ts';
import { spendOf } from './agents/agent-spend.ts';
import { dueJobs } from './cron/cron-jobs.ts';
import { listRuns, openRuns, runOfSession } from './cron/cron-runs.ts';
import { SqliteConnection, sqliteDialect } from './engines/sqlite-dialect.ts';
import { readyTurnsBut, turnsAtWork } from './lanes/agent-lanes.ts';
import { laneFacts, laneStates, laneWaitMs, lockLane, readyLanes } from './lanes/lanes.ts';
import { readyOutLanes } from './lanes/out-lanes.ts';
import { countWaiting, findMessage, inboxCounts, isKnownEvent, newestWaitingBefore, oldestOpenMs, openControlItems, turnItems, waitingItems } from './messages/inbox.ts';
import { failedDeliveries, hasOpenDeliveries, headOfLane } from './messages/outbox.ts';
import { pruneSteps } from './retention/prune-steps.ts';
import { defaultRetention } from './retention/retention-limits.ts';
import type { Tables } from './schema.ts';
import { currentCompression } from './sessions/compressions.ts';
import { bindingsOf, boundSession, findSession } from './sessions/sessions.ts';
import { lastUserMessage, newestMessages, newestSaid, newestSketches, pageOfMessages } from './sessions/transcripts.ts';
import { runningTurns, unfinishedTurn } from './sessions/turns.ts';
import type { Engine, Reading, Store } from './store.ts';

interface HotQuery {
  readonly name: string;
  /** The columns that lead to its rows, in the words of SQLite. */
  readonly by: string;
  run(db: Reading): Promise<unknown>;
}

/** What runs for every message, delivery or tick of a gateway, or pages through something long. */
const hotQueries: readonly HotQuery[] = [
  { name: 'newestMessages', by: 'session_id=? AND active=?', run: (db) => newestMessages(db, 's', { limit: 50 }) },
  { name: 'newestMessages, next page', by: 'session_id=? AND active=? AND id<?', run: (db) => newestMessages(db, 's', { limit: 50, beforeId: 1000 }) },
  { name: 'pageOfMessages', by: 'session_id=? AND active=? AND id>?', run: (db) => pageOfMessages(db, 's', { afterId: 10, limit: 50, activeOnly: false }) },
  { name: 'lastUserMessage', by: 'session_id=? AND active=? AND id>?', run: (db) => lastUserMessage(db, 's') },
  { name: 'newestSketches', by: 'session_id=? AND active=?', run: (db) => newestSketches(db, 's', { limit: 50 }) },
  { name: 'newestSaid', by: 'session_id=? AND active=?', run: (db) => newestSaid(db, 's', 50) },
  { name: 'currentCompression', by: 'session_id=? AND state=?', run: (db) => currentCompression(db, 's') },
  { name: 'waitingItems', by: 'lane=? AND state=? AND class=?', run: (db) => waitingItems(db, 'l', 50) },
  { name: 'countWaiting', by: 'lane=? AND state=? AND class=?', run: (db) => countWaiting(db, 'l') },
  { name: 'openControlItems', by: 'state=?', run: (db) => openControlItems(db, 50) },
  { name: 'isKnownEvent', by: 'native_id=? AND account=? AND chat_id=? AND kind=?', run: (db) => isKnownEvent(db, { account: 'a', chatId: 'c', nativeId: 'n', kind: 'message' }) },
  { name: 'findMessage', by: 'native_id=? AND account=? AND chat_id=? AND kind=?', run: (db) => findMessage(db, { account: 'a', chatId: 'c', nativeId: 'n' }) },
  { name: 'turnItems', by: 'turn_id=? AND state=?', run: (db) => turnItems(db, 1) },
  { name: 'inboxCounts', by: 'state=?', run: inboxCounts },
  { name: 'oldestOpenMs', by: 'state=?', run: oldestOpenMs },
  { name: 'headOfLane', by: 'lane=? AND state=?', run: (db) => headOfLane(db, 'l') },
  { name: 'hasOpenDeliveries', by: 'lane=? AND state=?', run: (db) => hasOpenDeliveries(db, 'l') },
  { name: 'failedDeliveries', by: 'state=?', run: (db) => failedDeliveries(db, 10) },
  { name: 'readyLanes', by: 'has_work=? AND kind=? AND ready_at<?', run: (db) => readyLanes(db, 'turn', 10) },
  { name: 'readyOutLanes', by: 'has_work=? AND kind=? AND ready_at<?', run: (db) => readyOutLanes(db, ['telegram', 'slack'], 10) },
  { name: 'turnsAtWork', by: 'has_work=? AND kind=?', run: turnsAtWork },
  { name: 'readyTurnsBut', by: 'has_work=? AND kind=? AND ready_at<?', run: (db) => readyTurnsBut(db, ['a'], 10) },
  { name: 'spendOf', by: 'agent=? AND day=?', run: (db) => spendOf(db, { agent: 'a', day: 'd' }) },
  { name: 'laneFacts', by: 'lane=?', run: (db) => laneFacts(db, 'l') },
  { name: 'laneWaitMs', by: 'lane=?', run: (db) => laneWaitMs(db, 'l') },
  { name: 'laneStates', by: 'lane=? AND state=? AND class=?', run: (db) => laneStates(db, ['l', 'm']) },
  { name: 'newestWaitingBefore', by: 'lane=? AND state=? AND class=?', run: (db) => newestWaitingBefore(db, { lane: 'l', id: 1 }) },
  { name: 'boundSession', by: 'session_key=?', run: (db) => boundSession(db, 'k') },
  { name: 'bindingsOf', by: 'session_id=?', run: (db) => bindingsOf(db, 's') },
  { name: 'findSession', by: 'id=?', run: (db) => findSession(db, 's') },
  { name: 'unfinishedTurn', by: 'state=? AND lane=?', run: (db) => unfinishedTurn(db, 'l') },
  { name: 'runningTurns', by: 'state=?', run: runningTurns },
  { name: 'dueJobs', by: 'next_at>?', run: (db) => dueJobs(db, 50) },
  { name: 'openRuns', by: 'state=? AND job_id=?', run: (db) => openRuns(db, 'j') },
  { name: 'runOfSession', by: 'session_id=?', run: (db) => runOfSession(db, 's') },
  { name: 'listRuns', by: 'job_id=?', run: (db) => listRuns(db, { jobId: 'j', limit: 20 }) },
];

/** A scan of a whole table or index, but not of a list that came with the query, or a sort of everything found. */
const sqliteOffence = /^SCAN (?!heads|json_each)|TEMP B-TREE FOR ORDER BY/m;
/** The same, where an index without a condition is a scan too. */
const postgresOffence = /Seq Scan|Sort Key|Index (?:Only )?Scan [^\n]*\n(?! *Index Cond)/;

interface Explained {
  readonly reading: Reading;
  readonly queries: CompiledQuery[];
  explain(query: CompiledQuery): Promise<string>;
  close(): Promise<void>;
}

const explainSqlite = (path: string): Explained => {
  const db = new DatabaseSync(path, { readOnly: true });
  const queries: CompiledQuery[] = [];
  const q = new Kysely<Tables>({ dialect: sqliteDialect(new SqliteConnection(db, { transactionsOnly: false })), log: (event) => void queries.push(event.query) });
  return {
    reading: { engine: 'sqlite', q, now: sql<number>`${1}`, nowMs: 1 },
    queries,
    explain: async (query) => {
      const rows = db.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as string[]));
      return rows.map((row) => String(row['detail'])).join('\n');
    },
    close: async () => db.close(),
  };
};

const explainPostgres = (url: string, analyze: boolean): Explained => {
  // With scans and sorts as a last resort, a plan that still has one cannot do without.
  const options = '-c enable_seqscan=off -c enable_sort=off -c enable_bitmapscan=off';
  const pool = new pg.Pool({ connectionString: url, options, max: 2 });
  const queries: CompiledQuery[] = [];
  const q = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: (event) => void queries.push(event.query) });
  return {
    reading: { engine: 'postgres', q, now: sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint` },
    queries,
    explain: async (query) => {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (${analyze ? 'analyze' : 'costs off'}) ${query.sql}`, [...query.parameters]);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    },
    close: () => pool.end(),
  };
};

const explainer = (engine: Engine, location: Location, analyze = false): Explained =>
  engine === 'sqlite' ? explainSqlite(location.path) : explainPostgres(location.databaseUrl ?? '', analyze);

const fillLongSession = (store: Store, sessionId: string, count: number): Promise<unknown> =>
  store.write((tx) =>
    sql`
      insert into messages (session_id, role, content, size, active, created_at)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)})
      select ${sql.lit(sessionId)}, case when i % 2 = 1 then 'user' else 'assistant' end, 'message ' || i, 20, 1, i from n`.execute(tx.q),
  );

eachStore((engine, open) => {
  test('no hot query reads a whole table or sorts what it has found', async () => {
    const { location } = await open();
    const explained = explainer(engine, location);
    try {
      for (const { name, by, run } of hotQueries) {
        await run(explained.reading);
        const queries = explained.queries.splice(0);
        assert.ok(queries.length > 0, name);
        for (const query of queries) {
          const plan = `${await explained.explain(query)}\n`;
          assert.doesNotMatch(plan, engine === 'sqlite' ? sqliteOffence : postgresOffence, `${name}:\n${query.sql}\n${plan}`);
          if (engine === 'sqlite') assert.ok(plan.includes(`(${by})`), `${name}:\n${plan}`);
        }
      }
    } finally {
      await explained.close();
    }
  });

  test('idle lanes are taken away by their names', async () => {
    const { store, location } = await open();
    await store.write(async (tx) => {
      for (let i = 0; i < 500; i += 1) await lockLane(tx, { lane: `turn:${i}`, kind: 'turn' });
    });
    const explained = explainer(engine, location);
    try {
      // Where nothing can be written it fails, and the query is known.
      await pruneSteps['lanes']?.({ ...explained.reading, notify: () => undefined }, defaultRetention).catch(() => undefined);
      const query = explained.queries.find(({ sql: text }) => text.startsWith('delete'));
      assert.match(query === undefined ? '' : await explained.explain(query), engine === 'sqlite' ? /\(lane=\?\)/ : /Index Cond: \(lane = /);
    } finally {
      await explained.close();
    }
  });

  test('loading the newest messages touches no more rows in a long conversation than in a short one', async () => {
    const { store, location } = await open();
    await fillLongSession(store, 'short', 100);
    await fillLongSession(store, 'long', 100_000);
    const explained = explainer(engine, location, true);
    try {
      for (const sessionId of ['short', 'long']) {
        explained.queries.length = 0;
        const rows = await newestMessages(explained.reading, sessionId, { limit: 50 });
        assert.equal(rows.length, 50);
        const [query] = explained.queries;
        assert.ok(query !== undefined);
        const plan = await explained.explain(query);
        if (engine === 'sqlite') assert.equal(plan, 'SEARCH messages USING INDEX messages_session (session_id=? AND active=?)');
        else assert.match(plan, /Index Scan Backward using messages_session on messages .*\(actual time=\S+ rows=50(?:\.00)? loops=1\)/);
      }
    } finally {
      await explained.close();
    }
  });
});
