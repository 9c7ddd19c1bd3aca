import { PlatformError } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ChatNames, Threads } from '../contract.ts';
import type { OwnThreads } from '../own-threads.ts';
import { channelOf } from './address.ts';
import { madeId } from './api.ts';
import type { DiscordApi } from './api.ts';
import type { Places } from './places.ts';
import { archiveMinutes, threadName } from './threads-below.ts';
import type { ThreadsBelow } from './threads-below.ts';
import { channelTypes, isForumType, isThreadType, record, text } from './wire.ts';

/** Asks for a thread by itself, then for one that hangs on a message of ours; forums have nothing but posts. */
export const newThreads = ({ api, places, log, ownThreads }: { readonly api: DiscordApi; readonly places: Places; readonly log: Logger; readonly ownThreads: OwnThreads }): Threads => {
  const create = async (channel: string, body: object, signal: AbortSignal): Promise<string> => madeId(await api.call({ method: 'POST', route: '/channels/{channel}/threads', ids: { channel }, body, once: true }, signal));
  const createBelow = async (channel: string, name: string, signal: AbortSignal): Promise<string> => {
    const seed = madeId(await api.call({ method: 'POST', route: '/channels/{channel}/messages', ids: { channel }, body: { content: `🧵 ${name}`, allowed_mentions: { parse: [] } }, once: true }, signal));
    return madeId(await api.call({ method: 'POST', route: '/channels/{channel}/messages/{message}/threads', ids: { channel, message: seed }, body: { name, auto_archive_duration: archiveMinutes }, once: true }, signal));
  };
  const open = async (channel: string, type: number | undefined, name: string, signal: AbortSignal): Promise<string> => {
    const common = { name, auto_archive_duration: archiveMinutes };
    if (isForumType(type)) return create(channel, { ...common, message: { content: name, allowed_mentions: { parse: [] } } }, signal);
    try {
      return await create(channel, { ...common, type: type === channelTypes.announcement ? channelTypes.announcementThread : channelTypes.publicThread }, signal);
    } catch (error) {
      if (!(error instanceof PlatformError) || (error.code !== 'forbidden' && error.code !== 'rejected')) throw error;
      return createBelow(channel, name, signal);
    }
  };
  return {
    async open(chat, wanted, signal) {
      const place = await places.find(channelOf(chat), signal);
      if (place?.type === channelTypes.dm) return undefined;
      const above = isThreadType(place?.type) ? place?.parentId : channelOf(chat);
      if (above === undefined) return undefined;
      const type = isThreadType(place?.type) ? (await places.find(above, signal))?.type : place?.type;
      try {
        const name = threadName(wanted);
        const threadId = await open(above, type, name, signal);
        await ownThreads.named({ chatId: threadId, threadId }, name);
        return { account: chat.account, chatId: threadId, chatType: 'thread', threadId, ...(chat.scopeId !== undefined && { scopeId: chat.scopeId }) };
      } catch (error) {
        if (!(error instanceof PlatformError) || !['unsupported', 'rejected', 'forbidden'].includes(error.code)) throw error;
        log.info({ chatId: chat.chatId, reason: error.message }, 'discord.thread.refused');
        return undefined;
      }
    },
  };
};

/** Threads that we have opened are called like their conversation, until a person calls them otherwise. */
export const newNames = ({ api, ownThreads, threadsBelow }: { readonly api: DiscordApi; readonly ownThreads: OwnThreads; readonly threadsBelow: ThreadsBelow }): ChatNames => ({
  async set(chat, wanted, signal) {
    const name = threadName(wanted);
    const channel = channelOf(chat);
    const thread = { chatId: channel, threadId: channel };
    if (await threadsBelow.rename(channel, name)) return;
    const before = await ownThreads.nameOf(thread);
    if (before === undefined || before === name) return;
    const shown = text(record(await api.call({ method: 'GET', route: '/channels/{channel}', ids: { channel } }, signal))?.['name']);
    if (shown !== before && shown !== name) return ownThreads.leave(thread);
    if (shown !== name) await api.call({ method: 'PATCH', route: '/channels/{channel}', ids: { channel }, body: { name } }, signal);
    await ownThreads.named(thread, name);
  },
});
