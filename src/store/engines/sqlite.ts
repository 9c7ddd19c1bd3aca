import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import { StoreError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Tables } from '../schema.ts';
import type { Channel, ListenWhen, Reading, Store, Tidied, WriteOptions, Writing } from '../store.ts';
import { InFlight } from './in-flight.ts';
import { Listeners } from './listeners.ts';
import { SqliteConnection, sqliteDialect, sqliteError } from './sqlite-dialect.ts';
import { emptyLogFile, openForReading, openForWriting, tidyFile } from './sqlite-file.ts';

interface Job {
  run(): Promise<void>;
  settle(): void;
  fail(error: StoreError): void;
}

interface Notice {
  readonly channel: Channel;
  readonly payload: string;
}

/** At most this many waiting transactions share one commit, so that nobody waits long for the others. */
const maxGroup = 64;

/** How long a patient write waits for company. */
const patienceMs = 5;

/** Another process may hold the file for as long as this; writes wait, and everything else goes on. */
const defaultBusyMs = 15_000;

/** SQLite itself waits only for a moment, because nothing else can happen meanwhile. */
const blockingMs = 20;
const pauseMs = 30;

export interface SqliteOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Reads the whole file once. The gateway does at its start; short-lived commands do not. */
  readonly checkIntegrity: boolean;
  readonly log?: Logger;
  /** How long a write waits for another process that holds the file, before it fails as `busy`. */
  readonly busyMs?: number;
  /** Told about every notification made here, so that other processes on the same file can be woken. */
  readonly onNotify?: (channel: Channel, payload: string) => void;
}

/**
 * The embedded store. Reads see only what is committed. Writes queue up, and those that wait
 * together share one commit (each in its own savepoint), so that a slow disk costs once per group instead of once per write.
 */
export class SqliteStore implements Store {
  readonly engine = 'sqlite';
  readonly #writer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #writing: Queries;
  readonly #reading: Queries;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #busyMs: number;
  readonly #listeners: Listeners;
  /** Those that are told before the commit. */
  readonly #early: Listeners;
  readonly #queue: Job[] = [];
  readonly #reads = new InFlight();
  readonly #onNotify: ((channel: Channel, payload: string) => void) | undefined;
  #draining: Promise<void> | undefined;
  #patience: NodeJS.Timeout | undefined;
  #time: Time | undefined;
  #closed = false;

  constructor(options: SqliteOptions) {
    this.#writer = openForWriting(options.path, options.checkIntegrity);
    this.#writer.exec(`pragma busy_timeout = ${blockingMs}`);
    this.#reader = openForReading(options.path);
    this.#begin = prepareStep(this.#writer, 'begin immediate');
    this.#commit = prepareStep(this.#writer, 'commit');
    this.#savepoint = prepareStep(this.#writer, 'savepoint job');
    this.#release = prepareStep(this.#writer, 'release job');
    this.#writing = queriesOver(new SqliteConnection(this.#writer, { transactionsOnly: true }));
    this.#reading = queriesOver(readsOver(this.#writer, this.#reader));
    this.#clock = options.clock;
    this.#path = options.path;
    this.#busyMs = options.busyMs ?? defaultBusyMs;
    this.#onNotify = options.onNotify;
    this.#listeners = new Listeners(options.log);
    this.#early = new Listeners(options.log);
  }

  read<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(closedError());
    return this.#reads.add(work({ engine: 'sqlite', ...this.#reading, ...this.#now() }));
  }

  write<T>(work: (writing: Writing) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise<T>((resolve, reject) => {
      this.#queue.push(this.#job(work, resolve, reject));
      if (options.patient === true) this.#patience ??= setTimeout(() => this.#startDraining(), patienceMs);
      else this.#startDraining();
    });
  }

  listen(channel: Channel, listener: (payload: string) => void, when: ListenWhen = 'committed'): Disposable {
    return (when === 'written' ? this.#early : this.#listeners).add(channel, listener);
  }

  /** A notification that another process sent. */
  deliver(channel: Channel, payload: string): void {
    this.#early.tell(channel, payload);
    this.#listeners.tell(channel, payload);
  }

  async tidy(): Promise<Tidied> {
    await this.#draining;
    if (this.#closed || this.#writer.isTransaction) return { freedBytes: 0 };
    try {
      return tidyFile(this.#writer, this.#path);
    } catch (error) {
      throw sqliteError(error);
    }
  }

  async emptyLog(patienceMs: number): Promise<boolean> {
    for (const untilMs = performance.now() + patienceMs; ; ) {
      await this.#draining;
      if (this.#closed) return false;
      if (!this.#writer.isTransaction && emptyLogFile(this.#writer)) return true;
      if (performance.now() >= untilMs) return false;
      await sleep(pauseMs);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#queue.length > 0) this.#startDraining();
    await this.#draining;
    await this.#reads.settled();
    this.#reader.close();
    this.#writer.close();
  }

  #now(): Time {
    const nowMs = this.#clock.now();
    if (nowMs !== this.#time?.nowMs) this.#time = { now: sql<number>`${nowMs}`, nowMs };
    return this.#time;
  }

  #job<T>(work: (writing: Writing) => Promise<T>, resolve: (value: T) => void, reject: (error: unknown) => void): Job {
    let outcome: { value: T } | undefined;
    let failure: unknown;
    const notices: Notice[] = [];
    const notify = (channel: Channel, payload: string): void => void notices.push({ channel, payload });
    return {
      run: async () => {
        notices.length = 0;
        failure = undefined;
        this.#savepoint.run();
        try {
          outcome = { value: await work({ engine: 'sqlite', ...this.#writing, ...this.#now(), notify }) };
          this.#release.run();
        } catch (error) {
          failure = error;
          outcome = undefined;
          // A full disk or an I/O error may have made SQLite roll the whole transaction back by itself.
          if (!this.#writer.isTransaction) throw error;
          this.#writer.exec('rollback to job');
          this.#release.run();
          return;
        }
        if (notices.length > 0) queueMicrotask(() => this.#announceEarly([...notices]));
      },
      settle: () => {
        if (outcome === undefined) {
          reject(failure);
          return;
        }
        // Before the caller goes on, yet apart from the group: a listener that throws takes nobody else's result with it.
        if (notices.length > 0) queueMicrotask(() => this.#announce(notices));
        resolve(outcome.value);
      },
      fail: (error) => reject(failure ?? error),
    };
  }

  #announceEarly(notices: readonly Notice[]): void {
    for (const { channel, payload } of notices) this.#early.tell(channel, payload);
  }

  #announce(notices: readonly Notice[]): void {
    for (const { channel, payload } of notices) {
      this.#listeners.tell(channel, payload);
      this.#onNotify?.(channel, payload);
    }
  }

  #startDraining(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    do {
      // Whoever writes until then joins the group, and between two groups timers, sockets and signals get their turn.
      await new Promise<void>((resolve) => setImmediate(resolve));
      await this.#commitGroup();
    } while (this.#queue.length > 0);
    this.#draining = undefined;
  }

  /** Takes in what is written while it runs, so that whoever an early notification woke shares the commit. */
  async #commitGroup(): Promise<void> {
    const group: Job[] = [];
    const failure = await this.#transaction(async () => {
      for (let job = this.#queue.shift(); job !== undefined; job = group.length < maxGroup ? this.#queue.shift() : undefined) {
        group.push(job);
        await job.run();
      }
    });
    // Without a transaction nobody has had his turn.
    if (failure !== undefined && group.length === 0) group.push(...this.#queue.splice(0, maxGroup));
    // Perhaps only one of them does not fit.
    if (failure?.code === 'full' && group.length > 1) for (const job of group) settle(job, await this.#transaction(() => job.run()));
    else for (const job of group) settle(job, failure);
  }

  /** What went wrong, if anything; then nothing of it is there. */
  async #transaction(work: () => Promise<void>): Promise<StoreError | undefined> {
    try {
      await this.#beginPatiently();
      await work();
      this.#commit.run();
      return undefined;
    } catch (error) {
      return this.#rollback() ?? sqliteError(error);
    }
  }

  async #beginPatiently(): Promise<void> {
    const untilMs = performance.now() + this.#busyMs;
    for (;;) {
      try {
        this.#begin.run();
        return;
      } catch (error) {
        if (sqliteError(error).code !== 'busy' || performance.now() >= untilMs) throw error;
        await sleep(pauseMs);
      }
    }
  }

  /** What went wrong with it, if anything: the queue goes on in any case. */
  #rollback(): StoreError | undefined {
    try {
      if (this.#writer.isTransaction) this.#writer.exec('rollback');
      return undefined;
    } catch (error) {
      return sqliteError(error);
    }
  }
}

type Time = Pick<Reading, 'now' | 'nowMs'>;

type Queries = Required<Pick<Reading, 'q' | 'run'>>;

const queriesOver = (connection: DatabaseConnection): Queries => ({
  q: new Kysely<Tables>({ dialect: sqliteDialect(connection) }),
  run: (query) => connection.executeQuery(query),
});

/**
 * Reads see only what is committed. A commit empties the cache of every other connection, so they are made on the one that writes while it has no transaction
 * open. Whatever is not plainly a question goes to the connection that cannot write.
 */
const readsOver = (writer: DatabaseSync, reader: DatabaseSync): DatabaseConnection => {
  const warm = new SqliteConnection(writer, { transactionsOnly: false });
  const apart = new SqliteConnection(reader, { transactionsOnly: false });
  const fitting = ({ sql: text }: CompiledQuery): SqliteConnection => (writer.isTransaction || !text.startsWith('select ') ? apart : warm);
  return { executeQuery: (query) => fitting(query).executeQuery(query), streamQuery: () => apart.streamQuery() };
};

/** `run` reports the number of the last row, which may be larger than a JavaScript number. */
const prepareStep = (db: DatabaseSync, step: string): StatementSync => {
  const statement = db.prepare(step);
  statement.setReadBigInts(true);
  return statement;
};

const settle = (job: Job, failure: StoreError | undefined): void => {
  if (failure === undefined) job.settle();
  else job.fail(failure);
};

const closedError = (): StoreError => new StoreError('unavailable', 'the store is closed');
