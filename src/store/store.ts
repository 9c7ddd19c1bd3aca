import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './schema.ts';

export type Engine = 'sqlite' | 'postgres';

/** What woke somebody: a lane has work, a running turn is to stop or has been overtaken by a newer message, an account's journal has grown. */
export type Channel = 'lane' | 'stop' | 'interrupt' | 'journal';

/** A view of the database: `q` builds queries, `now` is the database's clock in milliseconds. */
export interface Reading {
  readonly engine: Engine;
  readonly q: Kysely<Tables>;
  readonly now: RawBuilder<number>;
}

/** One transaction. Nothing but store calls may be awaited inside it. */
export interface Writing extends Reading {
  /** Delivered to this and every other process once the transaction has committed; never before, never after a rollback. */
  notify(channel: Channel, payload: string): void;
}

/** What outlives the process. Every failure is a `StoreError`. */
export interface Store {
  readonly engine: Engine;
  read<T>(work: (reading: Reading) => Promise<T>): Promise<T>;
  /** All or nothing; durable when it resolves. */
  write<T>(work: (writing: Writing) => Promise<T>): Promise<T>;
  /** Notifications only shorten waits: whoever relies on one also looks by itself now and then. */
  listen(channel: Channel, listener: (payload: string) => void): Disposable;
  close(): Promise<void>;
}
