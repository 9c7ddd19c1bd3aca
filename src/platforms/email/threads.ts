import { randomBytes } from 'node:crypto';
import type { InboundEvent, Target } from '../../core/message.ts';
import type { AccountData, Threads } from '../contract.ts';

/** What has to be known of a thread to write into it. */
export interface ThreadRecord {
  readonly subject: string;
  /** Ids of its newest messages, oldest first. */
  readonly ids: readonly string[];
  readonly atMs: number;
}

const prefix = 'thread:';

/** References may not grow for ever; RFC 5322 wants the first and the newest ones kept. */
const mostIds = 20;
const keepMs = 180 * 24 * 3600 * 1000;

const nameOf = (chatId: string, threadId: string | undefined): string => `${prefix}${chatId}/${threadId ?? ''}`;

const read = (value: string | undefined): ThreadRecord | undefined => (value === undefined ? undefined : (JSON.parse(value) as ThreadRecord));

export const boundedIds = (ids: readonly string[]): readonly string[] => {
  const unique = [...new Set(ids)];
  return unique.length <= mostIds ? unique : [unique[0] ?? '', ...unique.slice(1 - mostIds)];
};

/** Subjects and references of the threads that the account takes part in. */
export interface ThreadRecords {
  find(target: Pick<Target, 'chatId' | 'threadId'>): Promise<ThreadRecord | undefined>;
  keep(target: Pick<Target, 'chatId' | 'threadId'>, record: Omit<ThreadRecord, 'atMs'>): Promise<void>;
  /** Keeps what an answer to the event needs; the function that is answered takes it back. */
  note(event: InboundEvent, mail: { readonly subject: string; readonly references: readonly string[] }): Promise<() => Promise<void>>;
  /** Forgets threads that have been silent for half a year. */
  prune(): Promise<void>;
}

export const newThreadRecords = (data: AccountData, now: () => number): ThreadRecords => {
  const keep: ThreadRecords['keep'] = ({ chatId, threadId }, { subject, ids }) => data.set(nameOf(chatId, threadId), JSON.stringify({ subject, ids: boundedIds(ids), atMs: now() } satisfies ThreadRecord));
  return {
    find: async ({ chatId, threadId }) => read(await data.get(nameOf(chatId, threadId))),
    keep,
    async note({ chat, messageId }, { subject, references }) {
      const name = nameOf(chat.id, chat.threadId);
      const before = await data.get(name);
      await keep({ chatId: chat.id, ...(chat.threadId !== undefined && { threadId: chat.threadId }) }, { subject, ids: [...references, ...(messageId === undefined ? [] : [messageId])] });
      return async () => void (before === undefined ? await data.remove(name) : await data.set(name, before));
    },
    async prune() {
      for (const { key, value } of await data.list(prefix)) if (now() - (read(value)?.atMs ?? 0) > keepMs) await data.remove(key);
    },
  };
};

const maxSubject = 150;

/** A new thread with somebody: the first mail in it carries the name as its subject. */
export const newThreads = (records: ThreadRecords): Threads => ({
  async open({ replyTo: _elsewhere, ...chat }, name) {
    const thread = { ...chat, threadId: randomBytes(6).toString('hex') };
    await records.keep(thread, { subject: name.replaceAll(/\s+/g, ' ').trim().slice(0, maxSubject).toWellFormed() || 'A new thread', ids: [] });
    return thread;
  },
});
