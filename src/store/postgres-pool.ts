import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { StoreError } from '../core/errors.ts';
import type { StoreErrorCode } from '../core/errors.ts';
import { storable } from './storable.ts';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html; a longer start of the code wins. */
const codes: readonly (readonly [string, StoreErrorCode])[] = [
  ['53300', 'unavailable'], // too many connections
  ['53', 'full'],
  ['40001', 'busy'],
  ['40P01', 'busy'],
  ['55P03', 'busy'],
  ['25006', 'unwritable'],
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

const checkedClient = (client: pg.PoolClient): PostgresPoolClient => ({
  // Kysely declares a second shape of `query` for cursors, which are not used.
  query: ((text: string, parameters: readonly unknown[]) => query(client, text, parameters)) as unknown as PostgresPoolClient['query'],
  release: (destroy) => client.release(destroy),
});

/** The pool as Kysely sees it: whatever fails in it fails as a `StoreError`. */
export const checkedPool = (pool: pg.Pool): PostgresPool => {
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
