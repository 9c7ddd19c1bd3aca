import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { StoreError } from '../../core/errors.ts';
import type { StoreErrorCode } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { storable } from '../storable.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html; a longer start of the code wins. */
const codes: readonly (readonly [string, StoreErrorCode])[] = [
  ['53300', 'unavailable'], // too many connections
  ['53', 'full'],
  ['40001', 'busy'],
  ['40P01', 'busy'],
  ['55P03', 'busy'],
  ['25006', 'unwritable'],
  ['25P03', 'unavailable'], // ended because it stood still in a transaction
  ['42501', 'unwritable'],
  ['XX001', 'corrupt'],
  ['XX002', 'corrupt'],
  ['08', 'unavailable'],
  ['28', 'unavailable'], // wrong user or password
  ['3D', 'unavailable'], // no such database
  ['57P', 'unavailable'], // shutting down or starting up
];

/** Whatever is not an answer of the server is about the way to it. */
const classify = (error: unknown): StoreErrorCode => {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'unavailable';
  const { code } = error;
  return codes.find(([start]) => code.startsWith(start))?.[1] ?? 'failed';
};

export const postgresError = (error: unknown): StoreError => {
  if (error instanceof StoreError) return error;
  const code = classify(error);
  return new StoreError(code, `PostgreSQL: ${error instanceof Error ? error.message : code}`, { cause: error });
};

const failing = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw postgresError(error);
  }
};

const query = async (client: pg.PoolClient, text: string, parameters: readonly unknown[]): Promise<pg.QueryResult> => {
  const result = await failing(client.query(text, parameters.map(storable)));
  // After a failed statement PostgreSQL takes a commit for a rollback.
  if (text === 'commit' && result.command === 'ROLLBACK') throw new StoreError('failed', 'a statement of the transaction had failed');
  return result;
};

/** A connection on which something was lost is not used again: whatever else is asked of it fails at once, and it does not go back to the pool. */
const checkedClient = (client: pg.PoolClient): PostgresPoolClient => {
  let lost: StoreError | undefined;
  const run = async (text: string, parameters: readonly unknown[]): Promise<pg.QueryResult> => {
    if (lost !== undefined) throw lost;
    try {
      return await query(client, text, parameters);
    } catch (error) {
      if (error instanceof StoreError && error.code === 'unavailable') lost = error;
      throw error;
    }
  };
  return {
    // Kysely declares a second shape of `query` for cursors, which are not used.
    query: run as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || lost !== undefined),
  };
};

/** The pool as Kysely sees it: whatever fails in it fails as a `StoreError`. */
const checkedPool = (pool: pg.Pool): PostgresPool => {
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  // Without a listener, a connection that breaks while it is in use would end the process; the query that uses it fails anyway.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    options: pool.options,
    connect: async () => {
      const client = await failing(pool.connect());
      const known = clients.get(client) ?? checkedClient(client);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
};

/** How long things may take on a connection at work. Nothing at work comes near them; what may take hours has a connection without. */
export interface WorkLimits {
  /** To wait for a lock; then the work is begun anew, behind everybody who waits for a connection. */
  readonly lockMs: number;
  /** Between two statements of a transaction. */
  readonly pauseMs: number;
  /** For an answer of the server. */
  readonly answerMs: number;
}

/** Until somebody who waits for a connection gives up. */
const connectMs = 10_000;

/** Without them a node that stands still keeps its locks, and a connection whose way was lost its caller, for as long as TCP takes to notice: hours. */
export const workLimits: WorkLimits = {
  /** Shorter than `connectMs`: those who wait for one lock let the others have a connection in time. */
  lockMs: 5_000,
  /** Shorter than all tries for a lock together, so that whoever waits gets what a node lost that stood still. Nothing but queries is awaited in a transaction. */
  pauseMs: 10_000,
  /** Half of what a lane's lease lasts: it can still be extended on another connection. */
  answerMs: 30_000,
};

/** Whole numbers of 64 bits are numbers here. */
const types: pg.CustomTypesConfig = { getTypeParser: (oid: number, format?: unknown) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text')) };

/** The kernel asks the other side after so much silence, and ten times more, a second apart. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** How every connection is made. */
export const connectionTo = (url: string) => ({ connectionString: url, connectionTimeoutMillis: connectMs, types, ...keepAlive }) satisfies pg.ClientConfig;

export interface PoolOptions {
  readonly url: string;
  readonly log: Logger;
  readonly size: number;
  /** None for what may take hours. */
  readonly limits?: WorkLimits;
}

/** Limits of the server are set by a statement: a pooler in between refuses to begin with settings that it does not know. */
export const openPool = ({ url, log, size, limits }: PoolOptions): PostgresPool => {
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    if (limits !== undefined) await client.query(`set lock_timeout = ${limits.lockMs}; set idle_in_transaction_session_timeout = ${limits.pauseMs}`);
  };
  const pool = new pg.Pool({ ...connectionTo(url), max: size, onConnect, ...(limits !== undefined && { query_timeout: limits.answerMs }) });
  pool.on('error', (error) => log.warn({ err: postgresError(error) }, 'store.connection_lost'));
  return checkedPool(pool);
};
