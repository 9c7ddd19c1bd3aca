import type { AccountName } from '../../core/ids.ts';
import type { Identity } from '../contract.ts';
import { newAddressing } from './addressing.ts';
import type { TelegramOptions } from './options.ts';
import { isIgnored, parseMessage, skip } from './parse-message.ts';
import type { Parsed, Reading } from './parse-message.ts';
import { toChat, toSender } from './place.ts';
import { integer, list, readChat, readMessage, readUser, record, text } from './wire.ts';

/** Kinds of updates that we ask Telegram for. */
export const updateKinds = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'message_reaction',
  'my_chat_member',
] as const;

const parsePress = (reading: Reading, value: unknown, receivedAtMs: number): Parsed => {
  const query = record(value);
  const id = text(query?.['id']);
  const data = text(query?.['data']);
  const from = readUser(query?.['from']);
  const message = readMessage(query?.['message']);
  if (id === undefined || from === undefined) return skip('malformed callback query');
  if (message === undefined || data === undefined) return skip('callback query without message or data');
  const chat = toChat(message.chat, message);
  if (isIgnored(reading, chat)) return skip('ignored thread');
  return {
    account: reading.account,
    kind: 'button',
    nativeId: id,
    chat,
    sender: toSender({ chat: message.chat, from }),
    text: '',
    media: [],
    messageId: String(message.id),
    addressed: true,
    mentioned: false,
    button: { data },
    sentAtMs: receivedAtMs,
  };
};

const reactionName = (value: unknown): string => {
  const reaction = record(value);
  return text(reaction?.['emoji']) ?? (reaction?.['type'] === 'paid' ? '⭐' : `custom:${text(reaction?.['custom_emoji_id']) ?? ''}`);
};

const parseReaction = (reading: Reading, value: unknown, updateId: number): Parsed => {
  const raw = record(value);
  const chat = readChat(raw?.['chat']);
  const messageId = integer(raw?.['message_id']);
  const date = integer(raw?.['date']);
  if (raw === undefined || chat === undefined || messageId === undefined || date === undefined) return skip('malformed reaction');
  const before = list(raw['old_reaction']).map(reactionName);
  const after = list(raw['new_reaction']).map(reactionName);
  const added = after.find((emoji) => !before.includes(emoji));
  const emoji = added ?? before.find((old) => !after.includes(old));
  if (emoji === undefined) return skip('reaction without a change');
  const sender = toSender({ chat, from: readUser(raw['user']), senderChat: readChat(raw['actor_chat']) });
  if (sender.id === reading.identity.id) return skip('own reaction');
  return {
    account: reading.account,
    kind: 'reaction',
    nativeId: String(updateId),
    chat: toChat(chat),
    sender,
    text: '',
    media: [],
    messageId: String(messageId),
    addressed: chat.type === 'private',
    mentioned: false,
    reaction: { emoji, added: added !== undefined },
    sentAtMs: date * 1000,
  };
};

const presentAs: ReadonlySet<unknown> = new Set(['creator', 'administrator', 'member', 'restricted']);

const isPresent = (member: unknown): boolean => presentAs.has(record(member)?.['status']);

const parseMembership = (reading: Reading, value: unknown, updateId: number): Parsed => {
  const raw = record(value);
  const chat = readChat(raw?.['chat']);
  const from = readUser(raw?.['from']);
  const date = integer(raw?.['date']);
  if (raw === undefined || chat === undefined || from === undefined || date === undefined) return skip('malformed membership');
  const isIn = isPresent(raw['new_chat_member']);
  if (chat.type === 'private') return skip(isIn ? 'bot unblocked' : 'bot blocked');
  if (!isIn) return skip('bot removed');
  if (isPresent(raw['old_chat_member'])) return skip('bot rights changed');
  return {
    account: reading.account,
    kind: 'join',
    nativeId: `member:${updateId}`,
    chat: toChat(chat),
    sender: toSender({ chat, from }),
    text: '',
    media: [],
    addressed: true,
    mentioned: false,
    sentAtMs: date * 1000,
  };
};

/**
 * Turns updates into events. It is pure and never throws, whatever the update holds. A text of at least `clientSplitsAt`
 * units carries the batch `split:<sender>[:<thread>]`; a shorter last piece carries none, because it cannot know.
 */
export const newParser = (context: { account: AccountName; identity: Identity; options: TelegramOptions }) => {
  const reading: Reading = {
    ...context,
    address: newAddressing(context.identity, context.options),
    freeChats: new Set(context.options.free_response_chats),
    ignoredThreads: new Set(context.options.ignored_threads),
  };
  return (update: unknown, receivedAtMs: number): Parsed => {
    const raw = record(update);
    const updateId = integer(raw?.['update_id']);
    if (raw === undefined || updateId === undefined) return skip('malformed update');
    const kind = updateKinds.find((name) => raw[name] !== undefined);
    const value = kind && raw[kind];
    switch (kind) {
      case 'message':
      case 'channel_post':
        return parseMessage(reading, value);
      case 'edited_message':
      case 'edited_channel_post':
        return parseMessage(reading, value, updateId);
      case 'callback_query':
        return parsePress(reading, value, receivedAtMs);
      case 'message_reaction':
        return parseReaction(reading, value, updateId);
      case 'my_chat_member':
        return parseMembership(reading, value, updateId);
      case undefined:
        return skip(`unknown update: ${Object.keys(raw).find((name) => name !== 'update_id') ?? 'empty'}`);
      default:
        return kind satisfies never;
    }
  };
};
