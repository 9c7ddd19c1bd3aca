import type { AccountName } from '../../core/ids.ts';
import type { Chat, InboundEvent, Sender } from '../../core/message.ts';
import type { ChatMove, Identity } from '../contract.ts';
import type { Addressed } from './addressing.ts';
import { contentName, readContent } from './content.ts';
import type { Content } from './content.ts';
import type { TelegramOptions } from './options.ts';
import { threadOf, toChat, toReply, toSender } from './place.ts';
import { integer, list, readMessage, readUser, record, text } from './wire.ts';
import type { WireEntity, WireMessage } from './wire.ts';

/** An event, something that happened to a place, or the reason why there is neither. */
export type Parsed = InboundEvent | { readonly moved: ChatMove } | { readonly renamed: { readonly chatId: string; readonly threadId: string } } | { readonly skip: string };

/** What reading an update depends on, prepared once per connection. */
export interface Reading {
  readonly account: AccountName;
  readonly identity: Identity;
  readonly options: TelegramOptions;
  readonly address: (text: string, entities: readonly WireEntity[]) => Addressed;
  readonly freeChats: ReadonlySet<string>;
  readonly ignoredThreads: ReadonlySet<string>;
}

/** Texts at least this long (UTF-16 units) are pieces that a client has cut: a continuation may follow. */
export const clientSplitsAt = 4000;

export const skip = (reason: string): Parsed => ({ skip: reason });

export const isIgnored = ({ ignoredThreads }: Reading, chat: Chat): boolean =>
  chat.threadId !== undefined && (ignoredThreads.has(chat.threadId) || ignoredThreads.has(`${chat.id}:${chat.threadId}`));

const batchOf = (message: WireMessage, content: Content, sender: Sender): InboundEvent['batch'] => {
  if (message.albumId !== undefined) return { id: message.albumId, kind: 'album' };
  if (content.text.length < clientSplitsAt) return undefined;
  return { id: ['split', sender.id, threadOf(message)].filter((part) => part !== undefined).join(':'), kind: 'split' };
};

const parseJoin = (reading: Reading, message: WireMessage): Parsed => {
  const joined = list(message.raw['new_chat_members']).map(readUser);
  const others = joined.filter((user) => user !== undefined && String(user.id) !== reading.identity.id);
  if (others.length === 0) return skip('own join is reported by my_chat_member');
  return {
    account: reading.account,
    kind: 'join',
    nativeId: String(message.id),
    chat: toChat(message.chat, message),
    sender: toSender(message),
    text: `[joined: ${others.map((user) => user?.name ?? user?.id).join(', ')}]`,
    media: [],
    messageId: String(message.id),
    addressed: false,
    mentioned: false,
    sentAtMs: message.dateMs,
  };
};

/** A group that became a supergroup has another id: both say so, the old one to us first. */
const moveIn = ({ chat, raw }: WireMessage): ChatMove | undefined => {
  const [to, from] = [integer(raw['migrate_to_chat_id']), integer(raw['migrate_from_chat_id'])];
  if (to !== undefined) return { from: String(chat.id), to: String(to) };
  return from === undefined ? undefined : { from: String(from), to: String(chat.id) };
};

const isAddressed = ({ options, freeChats }: Reading, facts: { chat: Chat; said: Addressed; repliesToUs: boolean }): boolean => {
  const { chat, said, repliesToUs } = facts;
  if (chat.type === 'dm' || said.mentioned) return true;
  if (options.exclusive_bot_mentions && said.forOthers) return false;
  return repliesToUs || !options.require_mention || freeChats.has(chat.id);
};

/** `edit` is the update's id when the message is a new version of an old one. */
export const parseMessage = (reading: Reading, value: unknown, edit?: number): Parsed => {
  const message = readMessage(value);
  if (message === undefined) return skip('malformed message');
  const chat = toChat(message.chat, message);
  const sender = toSender(message);
  if (isIgnored(reading, chat)) return skip('ignored thread');
  const moved = moveIn(message);
  if (moved !== undefined) return { moved };
  if (Array.isArray(message.raw['new_chat_members'])) return parseJoin(reading, message);
  if (sender.id === reading.identity.id) return skip('own message');
  if (text(record(message.raw['forum_topic_edited'])?.['name']) !== undefined && chat.threadId !== undefined) return { renamed: { chatId: chat.id, threadId: chat.threadId } };
  const content = readContent(message.raw);
  if (content === undefined) return skip(`no content: ${contentName(message.raw)}`);
  if (edit !== undefined && content.isLiveLocation) return skip('live location update');
  const said = reading.address(content.text, content.entities);
  if (said.foreignCommand && chat.type !== 'dm') return skip('command for another bot');

  const replyTo = toReply(message, reading.identity);
  const batch = edit === undefined ? batchOf(message, content, sender) : undefined;
  return {
    account: reading.account,
    kind: edit === undefined ? 'message' : 'edit',
    // Two edits may fall into the same second.
    nativeId: edit === undefined ? String(message.id) : `${message.id}:${message.editDate ?? message.dateMs / 1000}:${edit}`,
    chat,
    sender,
    text: said.text,
    media: content.media,
    messageId: String(message.id),
    addressed: isAddressed(reading, { chat, said, repliesToUs: replyTo?.isOwn === true }),
    mentioned: said.mentioned,
    sentAtMs: message.dateMs,
    ...(replyTo !== undefined && { replyTo }),
    ...(batch !== undefined && { batch }),
    ...(content.location !== undefined && { location: content.location }),
  };
};
