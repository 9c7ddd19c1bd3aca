import type { TurnEvent } from '../../core/turn.ts';
import type { BegunTurn } from '../../sessions/begin.ts';
import type { FinishedTurn } from '../../sessions/lanes.ts';
import { callOf } from './call-of.ts';

/** Events of one call as they happen in this process. */
export interface CallFeed extends Disposable {
  /** What has come since it was last asked. */
  take(): readonly TurnEvent[];
  /** Resolves when something has come, or at once when something is there. */
  readonly arrived: Promise<void>;
}

interface Feed {
  events: TurnEvent[];
  end: Extract<TurnEvent, { readonly type: 'end' }> | undefined;
  signal: PromiseWithResolvers<void>;
}

/** Brings what happens in turns to those who wait for it over HTTP. An end is told only once it is stored. */
export class CallHub {
  readonly #feeds = new Map<string, Set<Feed>>();

  follow(callId: string): CallFeed {
    const feed: Feed = { events: [], end: undefined, signal: Promise.withResolvers() };
    const feeds = this.#feeds.get(callId) ?? new Set();
    this.#feeds.set(callId, feeds.add(feed));
    return {
      take() {
        const { events } = feed;
        feed.events = [];
        feed.signal = Promise.withResolvers();
        return events;
      },
      get arrived() {
        return feed.signal.promise;
      },
      [Symbol.dispose]: () => {
        feeds.delete(feed);
        if (feeds.size === 0) this.#feeds.delete(callId);
      },
    };
  }

  onEvent(begun: BegunTurn, event: TurnEvent): void {
    for (const feed of this.#feeds.get(callOf(begun) ?? '') ?? []) {
      if (event.type === 'end') feed.end = event;
      else this.#push(feed, event);
    }
  }

  onFinished({ begun, result }: FinishedTurn): void {
    for (const feed of this.#feeds.get(callOf(begun) ?? '') ?? []) this.#push(feed, feed.end ?? { type: 'end', reason: result.reason, ...(result.error !== null && { error: { code: result.errorCode ?? 'internal', sentence: result.error } }) });
  }

  /** Nothing more will be told by this process; the turns go on after its next start. */
  close(): void {
    for (const feeds of this.#feeds.values()) for (const feed of feeds) this.#push(feed, { type: 'end', reason: 'suspended' });
  }

  #push(feed: Feed, event: TurnEvent): void {
    feed.events.push(event);
    feed.signal.resolve();
  }
}
