import type { AccountName } from '../../core/ids.ts';
import type { Chat, InboundEvent, ReplyContext, Sender } from '../../core/message.ts';
import type { Identity } from '../contract.ts';
import { isFree, mayOpenThread, readAddress, unread } from './addressing.ts';
import type { Addressed } from './addressing.ts';
import { readContent } from './content.ts';
import type { DiscordOptions } from './options.ts';
import type { Place } from './places.ts';
import { channelTypes, isForumType, isThreadType, messageFlags, readMessage, record, snowflake } from './wire.ts';
import type { WireMessage } from './wire.ts';
import { clientSplitsAt } from './client-splits.ts';

/** An event, or the reason why there is none. */
export type Parsed = InboundEvent | { readonly skip: string };

export const skip = (reason: string): Parsed => ({ skip: reason });

export interface Reading {
  readonly account: AccountName;
  readonly identity: Identity;
  readonly options: DiscordOptions;
}

/** What a payload does not say about the place it came from. */
export interface Surroundings {
  readonly place?: Place | undefined;
  readonly parent?: Place | undefined;
  readonly guildName?: string | undefined;
  readonly ownRoles: ReadonlySet<string>;
}

/** Ordinary messages and answers; everything else is the platform speaking. */
const spoken: ReadonlySet<number> = new Set([0, 19]);

const titled = (place: Place): string => (isThreadType(place.type) ? (place.name ?? place.id) : `#${place.name ?? place.id}`);

export interface Where {
  readonly channelId: string;
  readonly guildId?: string | undefined;
  /** Of the person, where a direct chat has no name. */
  readonly name?: string | undefined;
}

export const toChat = ({ channelId, guildId, name }: Where, around: Surroundings): Chat => {
  const { place, parent, guildName } = around;
  if (guildId === undefined && (place === undefined || place.type === channelTypes.dm)) return { id: channelId, type: 'dm', ...(name !== undefined && { name }) };
  const scope = guildId ?? place?.guildId;
  const title = [guildName, parent && titled(parent), place && titled(place)].filter((part) => part !== undefined).join(' / ');
  const topic = place?.topic ?? parent?.topic;
  const common = { id: channelId, ...(title !== '' && { name: title }), ...(topic !== undefined && { topic }), ...(scope !== undefined && { scopeId: scope }) };
  if (!isThreadType(place?.type)) return { ...common, type: place?.type === channelTypes.announcement || isForumType(place?.type) ? 'channel' : 'group' };
  return { ...common, type: 'thread', threadId: channelId, ...(place?.parentId !== undefined && { parentId: place.parentId }) };
};

export const toSender = (user: { readonly id: string; readonly isBot: boolean; readonly name?: string | undefined; readonly roles?: readonly string[] | undefined }): Sender => ({
  id: user.id,
  isBot: user.isBot,
  ...(user.name !== undefined && { name: user.name }),
  ...(user.roles !== undefined && { roles: user.roles }),
});

const toReply = (message: WireMessage, identity: Identity): ReplyContext | undefined => {
  const reference = record(message.raw['message_reference']);
  const messageId = snowflake(reference?.['message_id']);
  // Type 1 passes a message on; it is content and no answer.
  if (messageId === undefined || reference?.['type'] === 1) return undefined;
  const original = readMessage(message.raw['referenced_message']);
  if (original === undefined) return { messageId, isOwn: false };
  const words = readContent(original)?.text;
  return {
    messageId,
    isOwn: original.author.id === identity.id,
    authorId: original.author.id,
    ...(original.author.name !== undefined && { authorName: original.author.name }),
    ...(words !== undefined && words !== '' && { text: words }),
  };
};

const isAddressed = (reading: Reading, facts: { readonly chat: Chat; readonly said: Addressed; readonly repliesToUs: boolean; readonly joined: boolean }): boolean => {
  const { options } = reading;
  const { chat, said, repliesToUs, joined } = facts;
  if (chat.type === 'dm' || said.mentioned || repliesToUs) return true;
  if (isFree(options, chat)) return true;
  if (options.ignore_no_mention && said.forOthers) return false;
  return joined || !options.require_mention;
};

/** The thread that the answer will open below a message has the message's id, and the conversation lives there from its first word. */
export const inOwnThread = (chat: Chat, messageId: string): Chat => ({ ...chat, id: messageId, type: 'thread', threadId: messageId, parentId: chat.id });

const opensThread = ({ options }: Reading, event: InboundEvent, place: Place | undefined): boolean =>
  (place?.type === channelTypes.text || place?.type === channelTypes.announcement) && event.addressed && event.replyTo === undefined && mayOpenThread(options, event.chat);

const readBatch = (message: WireMessage): InboundEvent['batch'] => (message.content.length < clientSplitsAt ? undefined : { id: `split:${message.author.id}`, kind: 'split' });

/** Says whether a message is worth finding out where it was written. */
export const isOwn = (reading: Reading, value: unknown): boolean => readMessage(value)?.author.id === reading.identity.id;

/** Turns a message into an event. Pure; never throws, whatever the payload holds. */
export const parseMessage = (reading: Reading, value: unknown, around: Surroundings, isEdit = false): Parsed => {
  const message = readMessage(value);
  if (message === undefined) return skip('malformed message');
  if (message.author.id === reading.identity.id) return skip('own message');
  if (!spoken.has(message.type)) return skip(`message of type ${message.type}`);
  if (isEdit && message.editedAt === undefined) return skip('no change of words');
  const chat = toChat({ channelId: message.channelId, guildId: message.guildId, name: message.author.name }, around);
  const ignored = chat.type === 'dm' ? undefined : unread(reading.options, chat);
  if (ignored !== undefined) return skip(ignored);
  const content = readContent(message);
  if (content === undefined) return skip('no content');
  const said = readAddress(message, content.text, { id: reading.identity.id, roles: around.ownRoles });
  const replyTo = toReply(message, reading.identity);
  const batch = isEdit ? undefined : readBatch(message);
  const event: InboundEvent = {
    account: reading.account,
    kind: isEdit ? 'edit' : 'message',
    nativeId: isEdit ? `${message.id}:${message.editedAt}` : message.id,
    chat,
    sender: toSender({ ...message.author, roles: message.roles }),
    text: said.text,
    media: content.media,
    messageId: message.id,
    addressed: isAddressed(reading, { chat, said, repliesToUs: replyTo?.isOwn === true, joined: around.place?.joined === true }),
    mentioned: said.mentioned,
    sentAtMs: message.sentAtMs,
    ...(replyTo !== undefined && { replyTo }),
    ...(batch !== undefined && { batch }),
  };
  const below = isEdit ? reading.options.auto_thread && (message.flags & messageFlags.hasThread) !== 0 : opensThread(reading, event, around.place);
  return below ? { ...event, chat: inOwnThread(chat, message.id) } : event;
};
