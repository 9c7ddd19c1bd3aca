import type { Logger } from '../../lib/logger.ts';
import type { Channel } from '../store.ts';

interface Entry {
  readonly listener: (payload: string) => void;
}

/** Who is to be told what. One that throws takes neither the others nor the process with it: what is told may come from anybody who may connect to the database. */
export class Listeners {
  readonly #entries = new Map<string, Set<Entry>>();
  readonly #log: Logger | undefined;

  /** Without a log nobody would hear of what a listener has thrown, so then it is not caught. */
  constructor(log: Logger | undefined) {
    this.#log = log;
  }

  add(channel: Channel, listener: (payload: string) => void): Disposable {
    const entries = this.#entries.get(channel) ?? new Set();
    const entry = { listener };
    this.#entries.set(channel, entries.add(entry));
    return { [Symbol.dispose]: () => void entries.delete(entry) };
  }

  /** A channel that nobody knows has no listeners. */
  tell(channel: string, payload: string): void {
    const entries = [...(this.#entries.get(channel) ?? [])];
    for (const { listener } of entries) {
      try {
        listener(payload);
      } catch (error) {
        if (this.#log === undefined) throw error;
        this.#log.error({ err: error, channel }, 'store.listener_failed');
      }
    }
  }
}
