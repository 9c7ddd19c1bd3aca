import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolContext } from '../contract.ts';
import type { TimeLimit } from './time-limit.ts';

/** A tool call that a server is working on. */
export interface ActiveCall {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly limit: TimeLimit;
}

/** Knows for whom a server works, so that what it asks in between reaches the right person. */
export interface ActiveCalls {
  run<T>(call: ActiveCall, work: () => Promise<T>): Promise<T>;
  /** The call that a server's question belongs to; undefined when that is not certain. */
  current(): ActiveCall | undefined;
}

/**
 * Over HTTP a question should come in the answer to its call, so that it is known by where it is read. A program has one pipe for everything: there a question
 * belongs to the turn whose calls are under way, and to nobody when there are several turns.
 */
export const activeCalls = (): ActiveCalls => {
  const underWay = new Set<ActiveCall>();
  const scope = new AsyncLocalStorage<ActiveCall>();
  return {
    async run(call, work) {
      underWay.add(call);
      try {
        return await scope.run(call, work);
      } finally {
        underWay.delete(call);
      }
    },
    current() {
      const read = scope.getStore();
      if (read !== undefined) return underWay.has(read) ? read : undefined;
      const [first, ...others] = underWay;
      return others.every(({ context }) => context.turnId === first?.context.turnId) ? first : undefined;
    },
  };
};
