import { PlatformError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import { directTopicPrefix, generalTopic } from './place.ts';

export interface Address {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly direct_messages_topic_id?: number;
}

const topicNumber = (text: string): number => {
  const topic = Number(text);
  if (!Number.isSafeInteger(topic) || topic <= 0) throw new PlatformError('not_found', 'the thread id is not a Telegram topic', { missing: 'thread' });
  return topic;
};

/** Where a message goes. Telegram refuses the General topic by its number: it is what a forum has without a thread id. */
export const addressOf = ({ chatId, chatType, threadId }: Target): Address => {
  if (threadId === undefined || (threadId === generalTopic && chatType !== 'dm')) return { chat_id: chatId };
  if (threadId.startsWith(directTopicPrefix)) return { chat_id: chatId, direct_messages_topic_id: topicNumber(threadId.slice(directTopicPrefix.length)) };
  return { chat_id: chatId, message_thread_id: topicNumber(threadId) };
};

/** Typing is the one call that wants the General topic by its number, and that knows no direct message topics. */
export const typingAddressOf = ({ chatId, threadId }: Target): Address =>
  threadId === undefined || threadId.startsWith(directTopicPrefix) ? { chat_id: chatId } : { chat_id: chatId, message_thread_id: topicNumber(threadId) };

/** The number of a message; undefined for ids that are not of this chat. */
export const messageNumber = (id: string | undefined): number | undefined => {
  const number = Number(id);
  return id !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

export const requireMessage = (id: string): number => {
  const number = messageNumber(id);
  if (number === undefined) throw new PlatformError('not_found', 'the message id is not one of Telegram', { missing: 'message' });
  return number;
};
