import { PlatformError } from '../../core/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ChatNames, Threads } from '../contract.ts';
import type { OwnThreads } from '../own-threads.ts';
import type { TelegramApi } from './api.ts';
import { topicNotModified, unlessRefusedWith } from './errors.ts';
import { integer, record } from './wire.ts';

const maxTopicName = 128;

const titleOf = (name: string): string => name.trim().slice(0, maxTopicName).toWellFormed() || 'Topic';

interface Opening {
  readonly api: TelegramApi;
  readonly log: Logger;
  readonly ownThreads: OwnThreads;
}

/** A topic in a forum, or in a direct chat whose bot has topics enabled. */
export const newThreads = ({ api, log, ownThreads }: Opening): Threads => ({
  async open(chat, name, signal) {
    if (chat.chatType === 'channel') return undefined;
    const title = titleOf(name);
    const { replyTo: _elsewhere, ...place } = chat;
    try {
      const topic = record(await api.once(signal, (raw, s) => raw.createForumTopic({ chat_id: chat.chatId, name: title }, s)));
      const threadId = integer(topic?.['message_thread_id']);
      if (threadId === undefined) throw new PlatformError('unknown_outcome', 'createForumTopic: the answer has no thread');
      const thread = { ...place, threadId: String(threadId) };
      await ownThreads.named(thread, title);
      return thread;
    } catch (error) {
      if (!(error instanceof PlatformError) || (error.code !== 'unsupported' && error.code !== 'rejected')) throw error;
      log.info({ chatId: chat.chatId, reason: error.message }, 'telegram.thread.refused');
      return undefined;
    }
  },
});

/** Topics that we have opened are called like their conversation, until a person calls them otherwise. */
export const newNames = (api: TelegramApi, ownThreads: OwnThreads): ChatNames => ({
  async set(chat, wanted, signal) {
    const name = titleOf(wanted);
    const before = await ownThreads.nameOf(chat);
    if (before === undefined || before === name) return;
    const topic = { chat_id: chat.chatId, message_thread_id: Number(chat.threadId), name };
    await api.repeatable('chat', signal, (raw, s) => raw.editForumTopic(topic, s).then(() => undefined, unlessRefusedWith(topicNotModified)));
    await ownThreads.named(chat, name);
  },
});
