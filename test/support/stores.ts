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
import { noPostgresReason, openDatabases, startPostgres } from './postgres.ts';
import type { Databases, PostgresServer, TestDatabase } from './postgres.ts';

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

let ownServer: PostgresServer | undefined;
let opened: Promise<Databases> | undefined;

after(async () => {
  await (await opened)?.close();
  await ownServer?.stop();
});

/** On the server of the whole run, or on one for this file when it runs alone. */
const openServer = async (): Promise<Databases> => {
  const shared = process.env['HERMES_TEST_POSTGRES_URL'];
  if (shared !== undefined) return openDatabases(shared, process.env['HERMES_TEST_POSTGRES_OURS'] !== undefined);
  ownServer = await startPostgres();
  return openDatabases(ownServer.url, true);
};

const databases = (): Promise<Databases> => (opened ??= openServer());

/** A database without any table of ours. */
export const emptyPostgres = async (): Promise<TestDatabase> => (await databases()).create();

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

const newLocation = async (engine: Engine, cleanup: Cleanup): Promise<Location> => {
  if (engine === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-store-'));
    cleanup.add(() => rm(folder, { recursive: true }));
    return { path: join(folder, 'gateway.db') };
  }
  const server = await databases();
  const databaseUrl = await server.borrow();
  cleanup.add(async () => server.giveBack(databaseUrl));
  return { path: '', databaseUrl };
};

const openTestStore = async (engine: Engine, cleanup: Cleanup): Promise<OpenedStore> => {
  const location = await newLocation(engine, cleanup);
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
      afterEach(cleanup.run);
      tests(engine, () => openTestStore(engine, cleanup));
    });
  }
};
