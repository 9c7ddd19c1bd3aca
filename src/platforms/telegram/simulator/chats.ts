import type { MediaKind } from '../../../core/message.ts';
import type { VisibleMessage } from '../../simulator.ts';
import type { Json } from '../wire.ts';
import type { MarkupEntity } from './markdown-v2.ts';
import { badRequest } from './refusal.ts';
import type { Refusal } from './refusal.ts';

export interface StoredFile {
  readonly kind: MediaKind;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly fileId: string;
}

export interface Button {
  readonly text: string;
  readonly callback_data: string;
}

/** A message as everybody in the chat sees it now. */
export interface ChatMessage {
  readonly id: number;
  readonly fromBot: boolean;
  readonly from: Json;
  readonly date: number;
  readonly threadId?: number;
  readonly replyTo?: number;
  readonly files: readonly StoredFile[];
  readonly albumId?: string;
  text: string;
  entities: readonly MarkupEntity[];
  buttons: readonly (readonly Button[])[];
  /** What our bot has put on it. */
  reaction: readonly string[];
  edited: number;
}

export type ChatKind = 'private' | 'group' | 'supergroup' | 'channel';

export interface SimulatedChat {
  readonly id: number;
  kind: ChatKind;
  isForum: boolean;
  /** Every call about the chat is refused with it. */
  refusal?: Refusal;
  readonly topics: Map<number, string>;
  readonly messages: Map<number, ChatMessage>;
}

export interface Chats {
  /** The chat of an id; one that nobody has spoken in yet comes into being. */
  get(id: unknown): SimulatedChat;
  nextId(): number;
  visible(id: string): readonly VisibleMessage[];
}

/** Telegram's number of the topic that every forum has. */
export const generalTopicId = 1;

const toNumber = (id: unknown): number => {
  const number = Number(id);
  if (!Number.isSafeInteger(number)) throw badRequest('chat not found');
  return number;
};

const shownThread = (chat: SimulatedChat, message: ChatMessage): { threadId?: string } => {
  const thread = message.threadId ?? (chat.isForum && chat.kind === 'supergroup' ? generalTopicId : undefined);
  return thread === undefined ? {} : { threadId: String(thread) };
};

const toVisible = (chat: SimulatedChat, message: ChatMessage): VisibleMessage => ({
  id: String(message.id),
  chatId: String(chat.id),
  ...shownThread(chat, message),
  ...(message.replyTo !== undefined && { replyTo: String(message.replyTo) }),
  text: message.text,
  media: message.files.map(({ kind, name, bytes }) => ({ kind, name, bytes })),
  choices: message.buttons.flat().map(({ text, callback_data }) => ({ label: text, data: callback_data })),
  reactions: message.reaction,
  edited: message.edited,
});

export const newChats = (): Chats => {
  const chats = new Map<number, SimulatedChat>();
  let lastId = 100;
  const get = (id: unknown): SimulatedChat => {
    const number = toNumber(id);
    const known = chats.get(number);
    if (known !== undefined) return known;
    const chat: SimulatedChat = { id: number, kind: number < 0 ? 'supergroup' : 'private', isForum: false, topics: new Map(), messages: new Map() };
    chats.set(number, chat);
    return chat;
  };
  return {
    get,
    // Numbers are unique across chats here, so that an id alone names an event.
    nextId: () => (lastId += 1),
    visible(id) {
      const chat = get(id);
      return [...chat.messages.values()].filter((message) => message.fromBot).map((message) => toVisible(chat, message));
    },
  };
};
