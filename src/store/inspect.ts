import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Kysely, sql } from 'kysely';
import { StoreError } from '../core/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { silentLogger } from '../lib/logger.ts';
import { SqliteConnection, sqliteDialect, sqliteError } from './engines/sqlite-dialect.ts';
import { schemaVersion } from './migrations.ts';
import type { Tables } from './schema.ts';
import type { Reading } from './store.ts';

/** A database that is looked at and never changed, whatever version it has. Queries are safe only when `version` is `expected`. */
export interface Inspection extends AsyncDisposable {
  /** 0 for a database without tables of ours. */
  readonly version: number;
  readonly expected: number;
  read<T>(work: (reading: Reading) => Promise<T>): Promise<T>;
  /** What SQLite says about the pages of the file; undefined when all is well, or when there is no file of ours to check. */
  damage(): string | undefined;
}

export interface InspectOptions {
  readonly databaseUrl?: string | undefined;
  readonly path: string;
  readonly clock: Clock;
  /** A larger file is not read whole. */
  readonly wholeBytes: number;
}

/** Undefined when there is no database yet. Every failure is a `StoreError`. */
export const inspectStore = async (options: InspectOptions): Promise<Inspection | undefined> => {
  if (options.databaseUrl !== undefined) return inspectPostgres(options.databaseUrl);
  return existsSync(options.path) ? inspectSqlite(options) : undefined;
};

/** Opening a file that nobody else has open would leave a journal and a shared-memory file beside it, unless SQLite is told that it does not change. */
export const openUnchanged = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true, timeout: 1000 });
};

/** 0 for a database without tables of ours. */
export const sqliteVersion = (db: DatabaseSync): number => {
  const table = db.prepare("select 1 from sqlite_master where type = 'table' and name = 'meta'").get();
  return table === undefined ? 0 : Number(db.prepare("select value from meta where key = 'schema_version'").get()?.['value'] ?? 0);
};

const inspectSqlite = (options: InspectOptions): Inspection => {
  let db: DatabaseSync | undefined;
  try {
    const opened = openUnchanged(options.path);
    db = opened;
    const version = sqliteVersion(opened);
    const connection = new SqliteConnection(opened, { transactionsOnly: false });
    const q = new Kysely<Tables>({ dialect: sqliteDialect(connection) });
    return {
      version,
      expected: schemaVersion,
      read: (work) => {
        const nowMs = options.clock.now();
        return work({ engine: 'sqlite', q, run: (query) => connection.executeQuery(query), now: sql<number>`${nowMs}`, nowMs });
      },
      damage: () => (statSync(options.path).size > options.wholeBytes ? undefined : damageOf(opened)),
      [Symbol.asyncDispose]: () => Promise.resolve(opened.close()),
    };
  } catch (error) {
    db?.close();
    throw sqliteError(error);
  }
};

/** What SQLite says about the pages of a file; undefined when all is well. */
export const damageOf = (db: DatabaseSync): string | undefined => {
  try {
    const verdict = String(Object.values(db.prepare('pragma quick_check(1)').get() ?? {})[0]);
    return verdict === 'ok' ? undefined : verdict.replaceAll(/\s+/g, ' ');
  } catch (error) {
    const failure = sqliteError(error);
    if (failure.code !== 'corrupt') throw failure;
    return failure.message;
  }
};

const inspectPostgres = async (url: string): Promise<Inspection> => {
  const { PostgresStore } = await import('./engines/postgres.ts');
  const store = PostgresStore.forReading({ url, log: silentLogger, poolSize: 1 });
  try {
    const table = await store.read((db) => sql<{ name: string | null }>`select to_regclass('meta')::text as name`.execute(db.q));
    const row = table.rows[0]?.name == null ? undefined : await store.read((db) => db.q.selectFrom('meta').select('value').where('key', '=', 'schema_version').executeTakeFirst());
    return { version: Number(row?.value ?? 0), expected: schemaVersion, read: (work) => store.read(work), damage: () => undefined, [Symbol.asyncDispose]: () => store.close() };
  } catch (error) {
    await store.close();
    throw error instanceof StoreError ? error : new StoreError('failed', String(error), { cause: error });
  }
};
