import type { Target } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { AccountData } from './contract.ts';

type Place = Pick<Target, 'chatId' | 'threadId'>;

/** Threads that the gateway has opened itself, and what it has called them last. Those of people are none of its business. */
export interface OwnThreads {
  /** It was opened, or named, by us. Never rejects: what cannot be remembered keeps its name. */
  named(thread: Place, name: string): Promise<void>;
  /** Undefined for a thread of somebody else, and for one whose name is theirs by now. */
  nameOf(thread: Place): Promise<string | undefined>;
  /** Its name is not ours any more. */
  leave(thread: Place): Promise<void>;
  forgetOld(): Promise<void>;
}

const prefix = 'own-thread:';
const lifeMs = 90 * 24 * 3600 * 1000;

interface Kept {
  readonly name: string;
  readonly atMs: number;
}

const keyOf = ({ chatId, threadId }: Place): string => `${prefix}${chatId}:${threadId ?? ''}`;

/** Only this file writes it. */
const readKept = (value: string): Kept => JSON.parse(value) as Kept;

export const newOwnThreads = ({ data, clock, log }: { readonly data: AccountData; readonly clock: Clock; readonly log: Logger }): OwnThreads => ({
  async named(thread, name) {
    try {
      await data.set(keyOf(thread), JSON.stringify({ name, atMs: clock.now() } satisfies Kept));
    } catch (error) {
      log.warn({ err: error, chatId: thread.chatId, threadId: thread.threadId }, 'thread.not_remembered');
    }
  },
  async nameOf(thread) {
    const value = await data.get(keyOf(thread));
    return value === undefined ? undefined : readKept(value).name;
  },
  async leave(thread) {
    await data.remove(keyOf(thread));
  },
  async forgetOld() {
    for (const { key, value } of await data.list(prefix)) if (clock.now() - readKept(value).atMs > lifeMs) await data.remove(key);
  },
});
