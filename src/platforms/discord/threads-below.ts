import { PlatformError } from '../../core/errors.ts';
import type { InboundEvent } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Accepted, AccountData } from '../contract.ts';
import type { OwnThreads } from '../own-threads.ts';
import type { DiscordApi } from './api.ts';
import { integer, record, snowflake, text } from './wire.ts';

/** Threads that an answer will open below the message it answers. Such a thread has the id of that message. */
export interface ThreadsBelow {
  /** Remembers that the event's conversation lives in a thread that is not there yet; forgets it unless the event is stored. */
  promise(event: InboundEvent, channelId: string, accept: () => Promise<Accepted>): Promise<void>;
  /** Whether it was promised and is not there yet. */
  isPromised(threadId: string): Promise<boolean>;
  /** Opens the thread if it was promised and is not there. */
  ensure(threadId: string, signal: AbortSignal): Promise<void>;
  /** Gives one that is not there yet another name; false when none was promised. */
  rename(threadId: string, name: string): Promise<boolean>;
  forgetOld(): Promise<void>;
}

const prefix = 'thread:';
const lifeMs = 7 * 24 * 3600 * 1000;
const longestName = 100;
/** How long a thread without messages stays in people's list. */
export const archiveMinutes = 1440;

/** What people see above a thread: the first line of what it is about. */
export const threadName = (words: string, otherwise = 'Conversation'): string => {
  const [line = ''] = words.trim().split('\n', 1);
  const name = line.replace(/^#+\s*/, '').replace(/<[@#][!&]?\d+>/g, '').replaceAll(/\s+/g, ' ').trim();
  return (name.length > longestName ? `${name.slice(0, longestName - 1).toWellFormed()}…` : name) || otherwise;
};

export const newThreadsBelow = ({ api, data, clock, ownThreads }: { readonly api: DiscordApi; readonly data: AccountData; readonly clock: Clock; readonly ownThreads: OwnThreads }): ThreadsBelow => {
  const open = new Set<string>();
  const create = async (threadId: string, channel: string, name: string, signal: AbortSignal): Promise<void> => {
    const call = { method: 'POST', route: '/channels/{channel}/messages/{message}/threads', ids: { channel, message: threadId }, body: { name, auto_archive_duration: archiveMinutes } } as const;
    try {
      await api.call(call, signal);
      await ownThreads.named({ chatId: threadId, threadId }, name);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'rejected') throw error;
      // There may be one already, made by somebody else or by a try whose answer was lost.
      await api.call({ method: 'GET', route: '/channels/{channel}', ids: { channel: threadId } }, signal);
    }
  };
  return {
    async promise(event, channelId, accept) {
      const key = prefix + event.chat.id;
      await data.set(key, JSON.stringify({ channelId, name: threadName(event.text), atMs: clock.now() }));
      const accepted = await accept();
      if (accepted === 'skipped' || accepted === 'denied') await data.remove(key);
    },
    isPromised: async (threadId) => (await data.get(prefix + threadId)) !== undefined,
    async ensure(threadId, signal) {
      if (open.has(threadId)) return;
      const value = await data.get(prefix + threadId);
      const promised = record(value === undefined ? undefined : JSON.parse(value));
      const channelId = snowflake(promised?.['channelId']);
      if (channelId !== undefined) {
        await create(threadId, channelId, text(promised?.['name']) ?? 'Conversation', signal);
        await data.remove(prefix + threadId);
      }
      if (open.size > 5000) open.clear();
      open.add(threadId);
    },
    async rename(threadId, name) {
      const value = await data.get(prefix + threadId);
      // While it is looked at it may be opened, under its first name.
      return value !== undefined && data.change({ key: prefix + threadId, from: value, to: JSON.stringify({ ...record(JSON.parse(value)), name }), set: new Map(), remove: [] });
    },
    async forgetOld() {
      for (const { key, value } of await data.list(prefix)) {
        if (clock.now() - (integer(record(JSON.parse(value))?.['atMs']) ?? 0) > lifeMs) await data.remove(key);
      }
    },
  };
};
