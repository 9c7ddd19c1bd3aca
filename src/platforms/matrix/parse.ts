import type { AccountName } from '../../core/ids.ts';
import type { Chat, InboundEvent, ReplyContext } from '../../core/message.ts';
import type { Identity } from '../contract.ts';
import { newAddressing } from './addressing.ts';
import type { Addressed } from './addressing.ts';
import { readContent } from './content.ts';
import type { MatrixOptions } from './options.ts';
import { readRelation, record, text } from './wire.ts';
import type { Json, RoomEvent } from './wire.ts';

/** An event, or the reason why there is none. */
export type Parsed = InboundEvent | { readonly skip: string };

/** What is known about the place and the time around an event. */
export interface Surroundings {
  readonly room: {
    readonly id: string;
    readonly type: 'dm' | 'group';
    readonly name?: string;
    readonly topic?: string;
    readonly encrypted: boolean;
    /** Rooms whose place it has taken: lists of rooms that name one of them mean it. */
    readonly former?: readonly string[];
  };
  readonly senderName?: string | undefined;
  readonly replyTo?: ReplyContext | undefined;
  /** The thread of the message that an edit changes. */
  readonly editedThread?: string | undefined;
  /** The agent has spoken in the thread. */
  readonly inOwnThread: boolean;
  /** The reaction that is taken back. */
  readonly undone?: { readonly messageId: string; readonly emoji: string } | undefined;
}

interface Reading {
  readonly account: AccountName;
  readonly identity: Identity;
  readonly options: MatrixOptions;
  readonly address: (body: string, content: Json) => Addressed;
  readonly ignored: readonly RegExp[];
}

const skip = (reason: string): Parsed => ({ skip: reason });

const serverOf = (id: string): string | undefined => {
  const colon = id.indexOf(':');
  return colon === -1 ? undefined : id.slice(colon + 1);
};

const toChat = ({ room }: Surroundings, threadId: string | undefined): Chat => {
  const scopeId = serverOf(room.id);
  return {
    id: room.id,
    type: room.type,
    ...(room.name !== undefined && { name: room.name }),
    ...(room.topic !== undefined && { topic: room.topic }),
    ...(threadId !== undefined && { threadId }),
    ...(scopeId !== undefined && { scopeId }),
  };
};

/** The thread that a message is in, or that the answer to it will open. An edit belongs where the message that it changes belongs. */
const threadFor = ({ options }: Reading, around: Surroundings, event: RoomEvent): string | undefined => {
  const { replaces, thread } = readRelation(event.content);
  const known = replaces === undefined ? thread : around.editedThread;
  if (known !== undefined) return known;
  return (around.room.type === 'dm' ? options.dm_auto_thread : options.auto_thread) ? (replaces ?? event.id) : undefined;
};

const isNamedIn = (rooms: readonly string[], { id, former = [] }: Surroundings['room']): boolean => [id, ...former].some((each) => rooms.includes(each));

const isAddressed = ({ options }: Reading, { room, replyTo, inOwnThread }: Surroundings, said: Addressed): boolean =>
  room.type === 'dm' || said.mentioned || replyTo?.isOwn === true || inOwnThread || !options.require_mention || isNamedIn(options.free_response_rooms, room);

const parseMessage = (reading: Reading, event: RoomEvent, around: Surroundings): Parsed => {
  const { replaces, inReplyTo } = readRelation(event.content);
  const fresh = replaces === undefined ? event.content : record(event.content['m.new_content']);
  const content = fresh && readContent(event.type, fresh, inReplyTo !== undefined);
  if (fresh === undefined || content === undefined) return skip(`no content: ${text(event.content['msgtype']) ?? event.type}`);
  if (content.isNotice && !reading.options.process_notices) return skip('a notice');
  if (around.room.encrypted && event.wasEncrypted !== true) return skip('not encrypted in an encrypted room');
  const said = reading.address(content.text, fresh);
  return {
    account: reading.account,
    kind: replaces === undefined ? 'message' : 'edit',
    nativeId: event.id,
    chat: toChat(around, threadFor(reading, around, event)),
    sender: { id: event.sender, isBot: content.isNotice, ...(around.senderName !== undefined && { name: around.senderName }) },
    text: said.text,
    media: content.media,
    messageId: replaces ?? event.id,
    addressed: isAddressed(reading, around, said),
    mentioned: said.mentioned,
    sentAtMs: event.atMs,
    ...(around.replyTo !== undefined && { replyTo: around.replyTo }),
    ...(content.location !== undefined && { location: content.location }),
  };
};

const parseReaction = (reading: Reading, event: RoomEvent, around: Surroundings, change: { messageId: string; emoji: string; added: boolean }): Parsed => ({
  account: reading.account,
  kind: 'reaction',
  nativeId: event.id,
  chat: toChat(around, undefined),
  sender: { id: event.sender, isBot: false, ...(around.senderName !== undefined && { name: around.senderName }) },
  text: '',
  media: [],
  messageId: change.messageId,
  addressed: around.room.type === 'dm',
  mentioned: false,
  reaction: { emoji: change.emoji, added: change.added },
  sentAtMs: event.atMs,
});

/** What a reaction is about. */
export const readReaction = (event: RoomEvent): { readonly messageId: string; readonly emoji: string } | undefined => {
  const relates = record(event.content['m.relates_to']);
  const [messageId, emoji] = [text(relates?.['event_id']), text(relates?.['key'])];
  return event.type === 'm.reaction' && messageId !== undefined && emoji !== undefined && emoji !== '' ? { messageId, emoji } : undefined;
};

const speaking: ReadonlySet<string> = new Set(['m.room.message', 'm.sticker', 'm.poll.start', 'org.matrix.msc3381.poll.start']);

/** Turns events of a room into events of ours. It is pure and never throws, whatever the event holds. */
export const newParser = (context: { account: AccountName; identity: Identity; options: MatrixOptions }) => {
  const reading: Reading = {
    ...context,
    address: newAddressing(context.identity, context.options),
    ignored: context.options.ignore_user_patterns.map((pattern) => new RegExp(pattern, 'i')),
  };
  return (event: RoomEvent, around: Surroundings): Parsed => {
    const { allowed_rooms: rooms } = reading.options;
    if (event.stateKey !== undefined) return skip(`state: ${event.type}`);
    if (event.sender === reading.identity.id) return skip('own event');
    if (reading.ignored.some((pattern) => pattern.test(event.sender))) return skip('an ignored person');
    if (around.room.type !== 'dm' && rooms.length > 0 && !isNamedIn(rooms, around.room)) return skip('not one of allowed_rooms');
    if (event.isRedacted) return skip('taken back');
    if (event.type === 'm.room.redaction') return around.undone === undefined ? skip('a redaction') : parseReaction(reading, event, around, { ...around.undone, added: false });
    if (event.type === 'm.reaction') {
      const change = readReaction(event);
      return change === undefined ? skip('malformed reaction') : parseReaction(reading, event, around, { ...change, added: true });
    }
    return speaking.has(event.type) ? parseMessage(reading, event, around) : skip(`unknown event: ${event.type}`);
  };
};

/** Admins have put another room in the place of this one, and want us there. It passes the same authorization as everything else. */
export const parseReplacement = (account: AccountName, replaced: { roomId: string; by: string; isDirect: boolean; to: string; atMs: number }): InboundEvent => ({
  ...parseInvite(account, { roomId: replaced.roomId, inviter: replaced.by, isDirect: replaced.isDirect, atMs: replaced.atMs }),
  nativeId: `replaced:${replaced.to}`,
});

/** Somebody wants us in a room. It passes the same authorization as everything else. */
export const parseInvite = (account: AccountName, invite: { roomId: string; inviter: string; name?: string | undefined; isDirect: boolean; atMs: number }): InboundEvent => ({
  account,
  kind: 'join',
  nativeId: `invite:${invite.inviter}`,
  chat: { id: invite.roomId, type: invite.isDirect ? 'dm' : 'group', ...(invite.name !== undefined && { name: invite.name }) },
  sender: { id: invite.inviter, isBot: false },
  text: '',
  media: [],
  addressed: true,
  mentioned: false,
  sentAtMs: invite.atMs,
});
