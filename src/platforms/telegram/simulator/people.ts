import type { SimulatedMessage } from '../../simulator.ts';
import type { Json } from '../wire.ts';
import type { ChatKind, ChatMessage, SimulatedChat } from './chats.ts';
import { generalTopicId } from './chats.ts';
import { wireChat, wireMessage } from './outgoing.ts';
import { nowSeconds } from './world.ts';
import type { World } from './world.ts';

const kinds: Readonly<Record<SimulatedMessage['chatType'], ChatKind>> = { dm: 'private', group: 'supergroup', channel: 'channel', thread: 'supergroup' };

/** Telegram marks these itself in every text that people send. */
const marks = /(?<command>(?<![\w/])\/\w{1,32}(?:@\w{3,32})?)|(?<mention>(?<![\w@])@\w{3,32})/g;

const detectEntities = (text: string): readonly Json[] =>
  [...text.matchAll(marks)].map((match) => ({ type: match.groups?.['command'] === undefined ? 'mention' : 'bot_command', offset: match.index, length: match[0].length }));

const person = (id: string, name?: string): Json => ({ id: Number(id), is_bot: false, first_name: name ?? `Person ${id}` });

/** The chat as the message needs it: of its kind, and with its topic. */
const enter = (world: World, { chatId, chatType, threadId }: Pick<SimulatedMessage, 'chatId' | 'chatType' | 'threadId'>): SimulatedChat => {
  const chat = world.chats.get(chatId);
  chat.kind = kinds[chatType];
  if (threadId === undefined) return chat;
  if (chat.kind === 'supergroup') chat.isForum = true;
  if (Number(threadId) !== generalTopicId) chat.topics.set(Number(threadId), chat.topics.get(Number(threadId)) ?? `Topic ${threadId}`);
  return chat;
};

const store = (world: World, chat: SimulatedChat, said: SimulatedMessage): ChatMessage => {
  const thread = said.threadId === undefined || Number(said.threadId) === generalTopicId ? undefined : Number(said.threadId);
  const message: ChatMessage = {
    id: world.chats.nextId(),
    fromBot: false,
    from: said.own === true ? world.bot : person(said.senderId, said.senderName),
    date: nowSeconds(world),
    text: said.mention === true ? `@${world.bot.username} ${said.text}` : said.text,
    entities: [],
    files: said.media === undefined ? [] : [world.files.add(said.media)],
    buttons: [],
    reaction: [],
    edited: 0,
    ...(thread !== undefined && { threadId: thread }),
    ...(said.replyTo !== undefined && { replyTo: Number(said.replyTo) }),
  };
  chat.messages.set(message.id, message);
  return message;
};

const wireFile = ({ media }: SimulatedMessage): Json =>
  media === undefined ? {} : { mime_type: media.mime, ...(media.durationMs !== undefined && { duration: Math.round(media.durationMs / 1000) }) };

/** What a person's message looks like on the wire. */
const spoken = (chat: SimulatedChat, message: ChatMessage, said: SimulatedMessage): Json => {
  const plain = wireMessage(chat, message);
  const entities = detectEntities(message.text);
  const field = said.media === undefined ? 'entities' : 'caption_entities';
  const kind = said.media?.kind;
  const file = kind === undefined || kind === 'photo' ? {} : { [kind]: { ...(plain[kind] as Json), ...wireFile(said) } };
  const author = chat.kind === 'channel' ? { from: undefined, sender_chat: wireChat(chat) } : {};
  return { ...plain, ...file, ...author, ...(entities.length > 0 && { [field]: entities }) };
};

/** Puts a person's message into its chat and answers the content of the update that tells the bot. */
export const speak = (world: World, said: SimulatedMessage): { readonly nativeId: string; readonly content: Json } => {
  const chat = enter(world, said);
  const message = store(world, chat, said);
  const field = chat.kind === 'channel' ? 'channel_post' : 'message';
  return { nativeId: String(message.id), content: { [field]: spoken(chat, message, said) } };
};

/** A person changes an earlier message of theirs. */
export const rewrite = (world: World, chatId: string, messageId: string, text: string): Json => {
  const chat = world.chats.get(chatId);
  const message = chat.messages.get(Number(messageId));
  if (message === undefined) throw new Error(`no message ${messageId} in chat ${chatId}`);
  message.text = text;
  message.edited += 1;
  const entities = detectEntities(text);
  return { edited_message: { ...wireMessage(chat, message), edit_date: nowSeconds(world), ...(entities.length > 0 && { entities }) } };
};

export interface Press {
  readonly chatId: string;
  readonly messageId: string;
  readonly data: string;
  readonly senderId: string;
}

/** A person presses a button below one of the bot's messages. */
export const press = (world: World, { chatId, messageId, data, senderId }: Press): { readonly nativeId: string; readonly content: Json } => {
  const chat = world.chats.get(chatId);
  const message = chat.messages.get(Number(messageId));
  if (message === undefined) throw new Error(`no message ${messageId} in chat ${chatId}`);
  const id = `query${world.chats.nextId()}`;
  world.callbackQueries.add(id);
  return { nativeId: id, content: { callback_query: { id, from: person(senderId), message: wireMessage(chat, message), chat_instance: String(chat.id), data } } };
};

/** A person puts an emoji on a message, or takes it away. */
export const reactTo = (world: World, { chatId, messageId, senderId, data: emoji }: Press, added: boolean): Json => {
  const reaction = [{ type: 'emoji', emoji }];
  return {
    message_reaction: {
      chat: wireChat(world.chats.get(chatId)),
      message_id: Number(messageId),
      user: person(senderId),
      date: nowSeconds(world),
      old_reaction: added ? [] : reaction,
      new_reaction: added ? reaction : [],
    },
  };
};
