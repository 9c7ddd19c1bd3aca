import { EventEmitter } from 'node:events';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { StoreError } from '../core/errors.ts';
import type { StoreErrorCode } from '../core/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { pendingMigrations, schemaVersion } from './migrations.ts';
import type { Tables } from './schema.ts';
import type { Channel, Reading, Store, Writing } from './store.ts';

const now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
const channelName = 'hermes';
/** Any constant: it keeps two processes from migrating at once. */
const migrationLock = 718_245_901;

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const classify = (error: unknown): StoreErrorCode => {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return 'unavailable';
  if (error.code === '53100' || error.code === '53200') return 'full';
  if (error.code === '40001' || error.code === '40P01' || error.code === '55P03') return 'busy';
  if (error.code === '25006' || error.code === '42501') return 'unwritable';
  if (error.code.startsWith('XX')) return 'corrupt';
  return /^\d/.test(error.code) && !error.code.startsWith('08') && !error.code.startsWith('57P') ? 'failed' : 'unavailable';
};

const postgresError = (error: unknown): StoreError => {
  if (error instanceof StoreError) return error;
  const code = classify(error);
  const detail = code === 'failed' && error instanceof Error ? `: ${error.message}` : '';
  return new StoreError(code, `PostgreSQL: ${code}${detail}`, { cause: error });
};

/** Only failures of the database become store errors; whatever the caller threw passes through. */
const fromDatabase = (error: unknown): boolean => error instanceof pg.DatabaseError || (error instanceof Error && 'code' in error && !(error instanceof StoreError));

interface Notice {
  readonly channel: Channel;
  readonly payload: string;
}

export interface PostgresOptions {
  readonly url: string;
  readonly log: Logger;
  readonly poolSize?: number;
}

const maxTries = 5;

/** The store for several machines. Waking other processes is PostgreSQL's own LISTEN and NOTIFY. */
export class PostgresStore implements Store {
  readonly engine = 'postgres';
  readonly #pool: pg.Pool;
  readonly #db: Kysely<Tables>;
  readonly #emitter = new EventEmitter();
  readonly #log: Logger;
  readonly #url: string;
  #listener: pg.Client | undefined;
  #closed = false;

  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const store = new PostgresStore(options);
    try {
      await store.#migrate();
      await store.#subscribe();
      return store;
    } catch (error) {
      await store.close();
      throw postgresError(error);
    }
  }

  private constructor(options: PostgresOptions) {
    const types: pg.CustomTypesConfig = { getTypeParser: (oid: number, format?: unknown) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format as 'text')) };
    this.#url = options.url;
    this.#log = options.log;
    this.#pool = new pg.Pool({ connectionString: options.url, max: options.poolSize ?? 12, connectionTimeoutMillis: 10_000, types });
    this.#pool.on('error', (error) => this.#log.warn({ err: postgresError(error) }, 'store.connection_lost'));
    this.#db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) });
    this.#emitter.setMaxListeners(0);
  }

  async read<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    try {
      return await work({ engine: 'postgres', q: this.#db, now });
    } catch (error) {
      throw fromDatabase(error) ? postgresError(error) : error;
    }
  }

  async write<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        const failure = fromDatabase(error) ? postgresError(error) : error;
        // Deadlocks and serialization failures have changed nothing; the same work may simply run again.
        if (failure instanceof StoreError && failure.code === 'busy' && attempt < maxTries) continue;
        throw failure;
      }
    }
  }

  listen(channel: Channel, listener: (payload: string) => void): Disposable {
    this.#emitter.on(channel, listener);
    return { [Symbol.dispose]: () => void this.#emitter.off(channel, listener) };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#listener?.end();
    await this.#db.destroy();
  }

  async #attempt<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    const notices: Notice[] = [];
    const value = await this.#db.transaction().execute(async (trx) => {
      const result = await work({ engine: 'postgres', q: trx, now, notify: (channel, payload) => void notices.push({ channel, payload }) });
      if (notices.length > 0) {
        const payloads = [...new Set(notices.map((notice) => JSON.stringify([notice.channel, notice.payload])))];
        await sql`select pg_notify(${channelName}, payload) from unnest(${payloads}::text[]) as payload`.execute(trx);
      }
      return result;
    });
    for (const { channel, payload } of notices) this.#emitter.emit(channel, payload);
    return value;
  }

  async #subscribe(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: 10_000, keepAlive: true });
    client.on('notification', (message) => {
      const [channel, payload] = JSON.parse(message.payload ?? '[]') as [Channel, string];
      this.#emitter.emit(channel, payload);
    });
    client.on('error', (error) => this.#log.warn({ err: postgresError(error) }, 'store.notifications_lost'));
    client.once('end', () => void this.#resubscribe());
    await client.connect();
    await client.query(`listen ${channelName}`);
    this.#listener = client;
  }

  /** Meanwhile everybody still looks once a second, so a lost subscription only costs time. */
  async #resubscribe(): Promise<void> {
    while (!this.#closed) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      if (this.#closed) return;
      try {
        await this.#subscribe();
        return;
      } catch (error) {
        this.#log.warn({ err: postgresError(error) }, 'store.notifications_lost');
      }
    }
  }

  async #migrate(): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(trx);
      await sql`create table if not exists meta (key text primary key, value text not null)`.execute(trx);
      const row = await trx.selectFrom('meta').select('value').where('key', '=', 'schema_version').executeTakeFirst();
      const version = Number(row?.value ?? 0);
      if (version > schemaVersion) {
        throw new StoreError('newer', `The database was written by a newer version of hermes (schema ${version}, this one knows ${schemaVersion}). Install the newer version, or restore a backup made before the upgrade.`);
      }
      for (const step of pendingMigrations(version, 'postgres')) {
        for (const statement of step.statements) await sql.raw(statement).execute(trx);
        await trx
          .insertInto('meta')
          .values({ key: 'schema_version', value: String(step.version) })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(step.version) }))
          .execute();
      }
    });
  }
}
