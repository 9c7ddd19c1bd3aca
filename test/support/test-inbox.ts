import type { InboundEvent } from '../../src/core/message.ts';
import type { Accepted, Inbox } from '../../src/platforms/contract.ts';

export interface TestInbox extends Inbox {
  /** Accepted events, in the order they became durable. */
  readonly events: InboundEvent[];
  /** Every event that was handed over, also repeats. */
  readonly offered: InboundEvent[];
  readonly cursors: Map<string, string>;
  /** Runs before an event is stored; rejecting means that it could not be. */
  before: (event: InboundEvent) => Promise<void>;
  /** What becomes of an event that is new. */
  verdict: Accepted;
  /** Resolves when so many events are stored. */
  reached(count: number): Promise<void>;
  aliveCount(): number;
}

/** An inbox that outlives connections, as the gateway's does. */
export const testInbox = (): TestInbox => {
  const seen = new Set<string>();
  const cursors = new Map<string, string>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let alive = 0;
  const inbox: TestInbox = {
    events: [],
    offered: [],
    cursors,
    before: async () => undefined,
    verdict: 'stored',
    async accept(event) {
      inbox.offered.push(event);
      await inbox.before(event);
      const key = JSON.stringify([event.chat.id, event.kind, event.nativeId]);
      if (seen.has(key)) return 'duplicate';
      seen.add(key);
      inbox.events.push(event);
      for (const waiter of waiting.filter(({ count }) => inbox.events.length >= count)) waiter.resolve();
      return inbox.verdict;
    },
    returned: async () => false,
    moved: async () => undefined,
    alive: () => void (alive += 1),
    aliveCount: () => alive,
    cursor: { read: async (name) => cursors.get(name), write: async (name, value) => void cursors.set(name, value) },
    reached: (count) => (inbox.events.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
  };
  return inbox;
};
