import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { StoreErrorCode } from '../../core/errors.ts';
import { storable } from '../storable.ts';

interface Prepared {
  readonly statement: StatementSync;
  /** Of the rows; none for a statement that returns no rows. */
  readonly columns: readonly string[];
}

/** Statements in each of two generations. */
const mostRecent = 128;

/** https://www.sqlite.org/rescode.html, primary codes. */
const codes: Readonly<Record<number, StoreErrorCode>> = { 5: 'busy', 6: 'busy', 8: 'unwritable', 10: 'unavailable', 11: 'corrupt', 13: 'full', 14: 'unwritable', 26: 'corrupt' };

const sentences: Readonly<Record<StoreErrorCode, string>> = {
  busy: 'the database is locked by another process',
  unwritable: 'the database file cannot be written',
  unavailable: 'the disk reported an error',
  corrupt: 'the database file is damaged',
  full: 'the disk is full',
  newer: 'the database was written by a newer version',
  lane_lost: 'another owner has taken over',
  failed: 'a database statement failed',
};

export const sqliteError = (error: unknown): StoreError => {
  if (error instanceof StoreError) return error;
  const errcode = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
  const code = (errcode === undefined ? undefined : codes[errcode]) ?? 'failed';
  const detail = code === 'failed' && error instanceof Error ? `: ${error.message}` : '';
  return new StoreError(code, `${sentences[code]}${detail}`, { cause: error });
};

/** `node:sqlite` would make objects that are slow to read and twice as large. */
const toObjects = <R>(rows: readonly unknown[], columns: readonly string[]): R[] =>
  rows.map((row) => {
    const object: Record<string, unknown> = {};
    for (let i = 0; i < columns.length; i += 1) object[columns[i]!] = (row as readonly unknown[])[i];
    return object as R;
  });

/** One connection to one file. Statements are prepared once. */
export class SqliteConnection implements DatabaseConnection {
  readonly #db: DatabaseSync;
  readonly #transactionsOnly: boolean;
  #recent = new Map<string, Prepared>();
  #earlier = new Map<string, Prepared>();

  constructor(db: DatabaseSync, options: { transactionsOnly: boolean }) {
    this.#db = db;
    this.#transactionsOnly = options.transactionsOnly;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return Promise.resolve(this.#execute<R>(query));
    } catch (error) {
      return Promise.reject(sqliteError(error));
    }
  }

  // oxlint-disable-next-line require-yield -- rows are small here; callers page instead of streaming
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new StoreError('failed', 'streaming queries are not used');
  }

  #execute<R>(query: CompiledQuery): QueryResult<R> {
    // Otherwise a statement that outlives its transaction, or follows one that SQLite has rolled back by itself, would commit alone.
    if (this.#transactionsOnly && !this.#db.isTransaction) throw new StoreError('failed', 'the transaction of this statement has ended');
    const { statement, columns } = this.#prepare(query.sql);
    const parameters = query.parameters.map(storable) as SQLInputValue[];
    if (columns.length > 0) return { rows: toObjects<R>(statement.all(...parameters), columns) };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #prepare(sql: string): Prepared {
    const known = this.#recent.get(sql);
    if (known !== undefined) return known;
    const prepared = this.#earlier.get(sql) ?? this.#compile(sql);
    // What nobody has used while so many others came by goes.
    if (this.#recent.size === mostRecent) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(sql, prepared);
    return prepared;
  }

  #compile(sql: string): Prepared {
    const statement = this.#db.prepare(sql);
    const columns = statement.columns().map(({ name }) => name);
    if (columns.length > 0) statement.setReturnArrays(true);
    // The search index numbers its own rows beyond what a JavaScript number holds, and `run` reports the last number of all.
    else statement.setReadBigInts(true);
    return { statement, columns };
  }
}

/** Kysely over an open `node:sqlite` database. Transactions are the store's, so the driver's own are refused. */
export const sqliteDialect = (connection: DatabaseConnection): Dialect => {
  const refuse = (): Promise<never> => Promise.reject(new StoreError('failed', 'transactions are opened by Store.write'));
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
};
