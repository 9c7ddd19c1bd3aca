import type { Chat, ReplyContext, Sender } from '../../core/message.ts';
import type { Identity } from '../contract.ts';
import { readContent } from './content.ts';
import { integer, readMessage, record, text } from './wire.ts';
import type { WireChat, WireMessage, WireUser } from './wire.ts';

/** The topic that a forum message without a topic belongs to. */
export const generalTopic = '1';

/** Topics of a channel's direct messages are addressed by another field than forum topics. */
export const directTopicPrefix = 'direct:';

/** The topic a message is in. The thread id of a plain reply chain is not one. */
export const threadOf = (message: WireMessage): string | undefined => {
  if (message.directTopicId !== undefined) return `${directTopicPrefix}${message.directTopicId}`;
  if (message.threadId !== undefined && (message.isTopicMessage || message.chat.isForum)) return String(message.threadId);
  return message.chat.isForum && message.chat.type === 'supergroup' ? generalTopic : undefined;
};

/** The name of a topic, known only while a message still hangs on the service message that created it. */
const topicName = (message: WireMessage): string | undefined => {
  const anchor = record(message.raw['reply_to_message']);
  return text(record(anchor?.['forum_topic_created'])?.['name']);
};

const chatTypes = { private: 'dm', group: 'group', supergroup: 'group', channel: 'channel' } as const;

export const toChat = (chat: WireChat, message?: WireMessage): Chat => {
  const threadId = message && threadOf(message);
  const topic = message && topicName(message);
  return {
    id: String(chat.id),
    type: chatTypes[chat.type],
    ...(chat.name !== undefined && { name: chat.name }),
    ...(threadId !== undefined && { threadId }),
    ...(topic !== undefined && { topic }),
  };
};

/** Anonymous admins and channels write as a chat; the `from` beside it is a placeholder bot. */
export const toSender = (source: { chat: WireChat; from?: WireUser | undefined; senderChat?: WireChat | undefined; signature?: string }): Sender => {
  const { chat, from, senderChat, signature } = source;
  const as = senderChat ?? from ?? chat;
  const name = (as === from ? undefined : signature) ?? as.name;
  return { id: String(as.id), isBot: as === from && from.isBot, ...(name !== undefined && { name }) };
};

const externalReply = (message: WireMessage): string | undefined => {
  const external = record(message.raw['external_reply']);
  if (external === undefined) return undefined;
  return `external:${integer(record(external['chat'])?.['id']) ?? 'unknown'}:${integer(external['message_id']) ?? 'unknown'}`;
};

/** What a message answers to; the quoted part travels beside the whole text. */
export const toReply = (message: WireMessage, identity: Identity): ReplyContext | undefined => {
  const quote = text(record(message.raw['quote'])?.['text']);
  const quoted = quote === undefined ? {} : { quote };
  const original = readMessage(message.raw['reply_to_message']);
  if (original === undefined) {
    const messageId = externalReply(message);
    return messageId === undefined ? undefined : { messageId, isOwn: false, ...quoted };
  }
  // Every message of a topic hangs on the service message that created the topic: not a reply anybody made.
  if (original.raw['forum_topic_created'] !== undefined) return undefined;
  const author = toSender(original);
  const originalText = readContent(original.raw)?.text ?? '';
  return {
    messageId: String(original.id),
    isOwn: author.id === identity.id,
    authorId: author.id,
    ...(author.name !== undefined && { authorName: author.name }),
    ...(originalText !== '' && { text: originalText }),
    ...quoted,
  };
};
