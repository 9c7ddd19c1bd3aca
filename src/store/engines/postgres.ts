import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Tables } from '../schema.ts';
import type { Channel, Reading, Store, Tidied, Writing } from '../store.ts';
import { InFlight } from './in-flight.ts';
import { Listeners } from './listeners.ts';
import { migratePostgres } from './migrate-postgres.ts';
import type { PostgresUpgradeOptions } from './migrate-postgres.ts';
import { connectionTo, openPool, postgresError, workLimits } from './postgres-pool.ts';
import type { WorkLimits } from './postgres-pool.ts';

/** The time at which the statement began: unlike `clock_timestamp()` it can be compared with an index. */
const now = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`;
const channelName = 'hermes';
const maxTries = 5;
const resubscribeMs = 1000;
/** How long the server has to take a goodbye: one whose way was lost never does. */
const goodbyeMs = 1000;
/** PostgreSQL refuses longer ones, and with it the transaction. */
const maxNoticeBytes = 7_999;

interface Notice {
  readonly channel: Channel;
  readonly payload: string;
}

/** Undefined for what is none of ours: everybody who may connect to the database may say something there. */
const readMessage = (text: string | undefined): { readonly origin: string; readonly channel: string; readonly payload: string } | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (!Array.isArray(value) || value.length !== 3 || !value.every((part) => typeof part === 'string')) return undefined;
    const [origin = '', channel = '', payload = ''] = value;
    return { origin, channel, payload };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export interface PostgresOptions {
  readonly url: string;
  readonly log: Logger;
  readonly poolSize?: number;
  readonly limits?: WorkLimits;
}

const defaultPoolSize = 12;

const bringUpToDate = async (options: PostgresOptions & PostgresUpgradeOptions): Promise<void> => {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool({ url: options.url, log: options.log, size: 1 }) }) });
  try {
    await migratePostgres(db, now, options);
  } finally {
    await db.destroy();
  }
};

/** The store for several machines. Waking other processes is PostgreSQL's own LISTEN and NOTIFY. */
export class PostgresStore implements Store {
  readonly engine = 'postgres';
  readonly #db: Kysely<Tables>;
  readonly #listeners: Listeners;
  readonly #log: Logger;
  readonly #url: string;
  readonly #origin = randomUUID();
  readonly #underWay = new InFlight();
  readonly #closing = new AbortController();
  #endListener: (() => Promise<void>) | undefined;

  static async open(options: PostgresOptions & PostgresUpgradeOptions): Promise<PostgresStore> {
    const store = new PostgresStore(options);
    try {
      await bringUpToDate(options);
      await store.#subscribe();
      return store;
    } catch (error) {
      await store.close();
      if (options.signal?.aborted === true) throw error;
      throw postgresError(error);
    }
  }

  /** Neither brings the schema up to date nor listens: for looking at a database of whatever version. */
  static forReading(options: PostgresOptions): PostgresStore {
    return new PostgresStore(options);
  }

  private constructor(options: PostgresOptions) {
    this.#url = options.url;
    this.#log = options.log;
    const pool = openPool({ url: options.url, log: options.log, size: options.poolSize ?? defaultPoolSize, limits: options.limits ?? workLimits });
    this.#db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    this.#listeners = new Listeners(options.log);
  }

  read<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError());
    return this.#underWay.add(work({ engine: 'postgres', q: this.#db, now }));
  }

  write<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError());
    return this.#underWay.add(this.#writeUntilDone(work));
  }

  listen(channel: Channel, listener: (payload: string) => void): Disposable {
    return this.#listeners.add(channel, listener);
  }

  /** Its autovacuum does that. */
  tidy(): Promise<Tidied> {
    return Promise.resolve({ freedBytes: 0 });
  }

  /** Its log belongs to the server. */
  emptyLog(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#underWay.settled();
    await this.#endListener?.();
    await this.#db.destroy();
  }

  async #writeUntilDone<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(work);
      } catch (error) {
        // Deadlocks and serialization failures have changed nothing; the same work may simply run again.
        if (!(error instanceof StoreError && error.code === 'busy' && attempt < maxTries)) throw error;
      }
    }
  }

  async #attempt<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    const notices: Notice[] = [];
    const value = await this.#db.transaction().execute(async (trx) => {
      const result = await work({ engine: 'postgres', q: trx, now, notify: (channel, payload) => void notices.push({ channel, payload }) });
      const messages = this.#messagesFor(notices);
      if (messages.length > 0) await sql`select pg_notify(${channelName}, message) from unnest(${messages}::text[]) as message`.execute(trx);
      return result;
    });
    if (notices.length > 0) queueMicrotask(() => notices.forEach(({ channel, payload }) => this.#listeners.tell(channel, payload)));
    return value;
  }

  /** One that is too long is left out: whoever waits for it finds the work by looking. */
  #messagesFor(notices: readonly Notice[]): string[] {
    const messages = new Set(notices.map(({ channel, payload }) => JSON.stringify([this.#origin, channel, payload])));
    return [...messages].filter((message) => Buffer.byteLength(message) <= maxNoticeBytes);
  }

  async #subscribe(): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({ ...connectionTo(this.#url), query_timeout: workLimits.answerMs, stream: () => socket });
    const end = async (): Promise<void> => {
      const hurry = setTimeout(() => socket.destroy(), goodbyeMs);
      await client.end();
      clearTimeout(hurry);
    };
    let subscribed = false;
    client.on('notification', ({ payload }) => {
      const message = readMessage(payload);
      if (message !== undefined && message.origin !== this.#origin) this.#listeners.tell(message.channel, message.payload);
    });
    client.on('error', (error) => this.#log.warn({ err: postgresError(error) }, 'store.notifications_lost'));
    // A connection that was never made ends too; whoever tried to make it tries again.
    client.once('end', () => {
      if (subscribed) void this.#resubscribe();
    });
    try {
      await client.connect();
      await client.query(`listen ${channelName}`);
    } catch (error) {
      // A server that takes connections and no subscriptions, as one that only follows another does, would run out of them.
      await end();
      throw error;
    }
    subscribed = true;
    this.#endListener = end;
    if (this.#closing.signal.aborted) await end();
  }

  /** Meanwhile everybody still looks once a second, so a lost subscription only costs time. */
  async #resubscribe(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await sleep(resubscribeMs, undefined, { signal });
        await this.#subscribe();
        return;
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: postgresError(error) }, 'store.notifications_lost');
      }
    }
  }
}

const closedError = (): StoreError => new StoreError('unavailable', 'the store is closed');
