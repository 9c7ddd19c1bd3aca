import { sql } from 'kysely';
import type { CompiledQuery, Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Tables } from './schema.ts';

export type Engine = 'sqlite' | 'postgres';

/** What woke somebody: a lane has work, a running turn is to stop or has been overtaken by a newer message, a platform wants to be left alone, an account's journal has grown, a question was settled, an admin wants something of an account, a conversation is to move, an answer is to be spoken, a conversation is to get a title or has got one, a job has changed or one of its runs has ended, something has happened in a run of the API. */
export type Channel = 'lane' | 'stop' | 'interrupt' | 'gate' | 'journal' | 'question' | 'account' | 'handoff' | 'speech' | 'title' | 'titled' | 'cron' | 'run';

/** A view of the database: `q` builds queries, `now` is the database's clock in milliseconds. */
export interface Reading {
  readonly engine: Engine;
  readonly q: Kysely<Tables>;
  readonly now: RawBuilder<number>;
  /** What `now` stands for, on an engine whose clock is ours. */
  readonly nowMs?: number;
  /** Runs a query that is compiled already, where there is a shorter way than through `q`. */
  readonly run?: <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;
}

/** The database's time in so many milliseconds. Platforms name fractions of one; columns hold whole ones. */
export const inMs = (db: Reading, ms: number): RawBuilder<number> => sql<number>`${db.now} + ${Math.ceil(ms)}`;

/** What time it is for the database. */
export const databaseNow = async (db: Reading): Promise<number> => db.nowMs ?? Number((await db.q.selectNoFrom(db.now.as('now')).executeTakeFirst())?.now);

/**
 * A limit that leaves the plan alone: SQLite plans a query anew for every value of a bare `limit ?`, which costs more than running it.
 */
export const steadyLimit = (limit: number): RawBuilder<number> => sql<number>`${limit} + 0`;

/** SQL counts characters where JavaScript counts UTF-16 units. */
export const startsWith = (column: string, prefix: string): RawBuilder<boolean> => sql<boolean>`substr(${sql.ref(column)}, 1, ${Array.from(prefix).length}) = ${prefix}`;

/** One transaction. Nothing but its own queries may be awaited inside it: another `read` or `write` may wait for this one to end. */
export interface Writing extends Reading {
  /** Delivered to this and every other process once the transaction has committed; never before, never after a rollback. */
  notify(channel: Channel, payload: string): void;
}

/**
 * When a listener is told. `written`: perhaps already before the commit, where the engine can let what the listener writes at once
 * share that commit. Such a listener does nothing but write until its write has resolved; when the commit fails, both have failed.
 */
export type ListenWhen = 'committed' | 'written';

export interface WriteOptions {
  /** May wait some milliseconds for another write to share its commit with: for what nobody waits for. */
  readonly patient?: boolean;
}

/** What a store has done for itself. */
export interface Tidied {
  /** Of the write-ahead log, given back to the disk. */
  readonly freedBytes: number;
}

/** What outlives the process. Every failure is a `StoreError`. */
export interface Store {
  readonly engine: Engine;
  read<T>(work: (reading: Reading) => Promise<T>): Promise<T>;
  /**
   * All or nothing; durable when it resolves. `work` may have to run again (after a deadlock, or when the disk was too full for
   * those it shared a commit with), so it must not change anything but the database.
   */
  write<T>(work: (writing: Writing) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Notifications only shorten waits: whoever relies on one also looks by itself now and then. */
  listen(channel: Channel, listener: (payload: string) => void, when?: ListenWhen): Disposable;
  /** Keeps a database fast that is used for years: briefly, between two writes. Nothing where the engine does so by itself. */
  tidy(): Promise<Tidied>;
  /** Leaves nothing of what was deleted in files beside the database. False: somebody read for all of `patienceMs`, so it is not done yet. */
  emptyLog(patienceMs: number): Promise<boolean>;
  /** Lets what is under way end; refuses what comes later. */
  close(): Promise<void>;
}
