import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe } from 'node:test';
import { sql } from 'kysely';
import { manualClock, systemClock } from '../../src/lib/clock.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/open.ts';
import type { OpenOptions } from '../../src/store/open.ts';
import type { Engine, Store } from '../../src/store/store.ts';
import { createDatabase, noPostgresReason, startPostgres } from './postgres.ts';
import type { PostgresServer, TestDatabase } from './postgres.ts';

/** Where a store lives, in the words of `openStore`. */
export type Location = Pick<OpenOptions, 'databaseUrl' | 'path'>;

export interface OpenedStore {
  readonly store: Store;
  readonly location: Location;
  /** A manual one on SQLite; on PostgreSQL, whose own clock counts, the system's. */
  readonly clock: Clock;
  /** Lets time pass: at once on SQLite, really on PostgreSQL. */
  pass(ms: number): Promise<void>;
  /** A further store on the same database, as another process would have it. */
  another(): Promise<Store>;
}

export type OpenStore = () => Promise<OpenedStore>;

let ownServer: Promise<PostgresServer> | undefined;

after(async () => {
  await (await ownServer)?.stop();
});

/** The server of the whole run, or one for this file when it runs alone. */
const serverUrl = async (): Promise<string> => {
  const shared = process.env['HERMES_TEST_POSTGRES_URL'];
  if (shared !== undefined) return shared;
  ownServer ??= startPostgres();
  return (await ownServer).url;
};

/** An empty database, without any table of ours. */
export const emptyPostgres = async (): Promise<TestDatabase> => createDatabase(await serverUrl());

/** Closes what a test has opened, newest first. */
const newCleanup = (): { add(step: () => Promise<void>): void; run(): Promise<void> } => {
  const steps: (() => Promise<void>)[] = [];
  return {
    add: (step) => void steps.push(step),
    run: async () => {
      for (const step of steps.splice(0).toReversed()) await step();
    },
  };
};

const emptyTables = async (store: Store): Promise<void> => {
  if (store.engine !== 'postgres') return;
  await store.write(async (tx) => {
    const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'meta'`.execute(tx.q);
    // Much faster than truncating while tables are small.
    await sql.raw(`do $$ begin ${rows.map((row) => `delete from ${row.name};`).join(' ')} end $$`).execute(tx.q);
  });
};

type Cleanup = ReturnType<typeof newCleanup>;

const newLocation = async (engine: Engine, free: TestDatabase[], cleanup: Cleanup): Promise<Location> => {
  if (engine === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-store-'));
    cleanup.add(() => rm(folder, { recursive: true }));
    return { path: join(folder, 'gateway.db') };
  }
  const database = free.pop() ?? (await emptyPostgres());
  cleanup.add(async () => void free.push(database));
  return { path: '', databaseUrl: database.url };
};

const openTestStore = async (engine: Engine, free: TestDatabase[], cleanup: Cleanup): Promise<OpenedStore> => {
  const location = await newLocation(engine, free, cleanup);
  const manual = engine === 'sqlite' ? manualClock() : undefined;
  const clock = manual ?? systemClock;
  const another = async (): Promise<Store> => {
    const store = await openStore({ ...location, clock, log: silentLogger, checkIntegrity: false });
    cleanup.add(() => store.close());
    return store;
  };
  const store = await another();
  await emptyTables(store);
  return { store, location, clock, another, pass: (ms) => manual?.advance(ms) ?? systemClock.sleep(ms) };
};

/** Describes the same tests once for each engine. Every call of `open` gives a store of its own, closed and removed after the test. */
export const eachStore = (tests: (engine: Engine, open: OpenStore) => void): void => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    describe(engine, engine === 'postgres' && noPostgresReason !== undefined ? { skip: noPostgresReason } : {}, () => {
      const cleanup = newCleanup();
      const free: TestDatabase[] = [];
      afterEach(cleanup.run);
      after(async () => {
        for (const database of free) await database.drop();
      });
      tests(engine, () => openTestStore(engine, free, cleanup));
    });
  }
};
