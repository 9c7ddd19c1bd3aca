/** A JSON object that nobody has checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Json | undefined => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Lone surrogates are replaced; the length in UTF-16 units stays, so entity offsets stay right. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value.toWellFormed() : undefined);

export const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

const finite = (value: unknown): number | undefined => (Number.isFinite(value) ? (value as number) : undefined);

export interface WireUser {
  readonly id: number;
  readonly isBot: boolean;
  readonly name?: string;
  readonly username?: string;
}

export interface WireChat {
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup' | 'channel';
  readonly name?: string;
  readonly isForum: boolean;
}

/** Only the entities that decide whom a message is for. Offsets count UTF-16 units. */
export interface WireEntity {
  readonly type: 'mention' | 'text_mention' | 'bot_command';
  readonly offset: number;
  readonly length: number;
  readonly userId?: number;
  readonly userIsBot?: boolean;
}

export interface WireLocation {
  readonly latitude: number;
  readonly longitude: number;
  readonly isLive: boolean;
}

/** The part of a message that says who, where and when; the content stays in `raw`. */
export interface WireMessage {
  readonly id: number;
  readonly dateMs: number;
  readonly editDate?: number;
  readonly chat: WireChat;
  readonly from?: WireUser;
  readonly senderChat?: WireChat;
  readonly signature?: string;
  readonly threadId?: number;
  readonly isTopicMessage: boolean;
  readonly directTopicId?: number;
  readonly albumId?: string;
  readonly raw: Json;
}

const named = (raw: Json): { name?: string } => {
  const name = text(raw['title']) ?? [text(raw['first_name']), text(raw['last_name'])].filter((part) => part !== undefined && part !== '').join(' ');
  const shown = name === '' ? text(raw['username']) : name;
  return shown === undefined ? {} : { name: shown };
};

export const readUser = (value: unknown): WireUser | undefined => {
  const raw = record(value);
  const id = integer(raw?.['id']);
  if (raw === undefined || id === undefined) return undefined;
  const username = text(raw['username']);
  return { id, isBot: raw['is_bot'] === true, ...named(raw), ...(username !== undefined && { username }) };
};

const chatTypes: ReadonlySet<unknown> = new Set(['private', 'group', 'supergroup', 'channel']);
const isChatType = (value: unknown): value is WireChat['type'] => chatTypes.has(value);

export const readChat = (value: unknown): WireChat | undefined => {
  const raw = record(value);
  const id = integer(raw?.['id']);
  const type = raw?.['type'];
  if (raw === undefined || id === undefined || !isChatType(type)) return undefined;
  return { id, type, ...named(raw), isForum: raw['is_forum'] === true };
};

/** Undefined when the fields that every message has are missing or of another type. */
export const readMessage = (value: unknown): WireMessage | undefined => {
  const raw = record(value);
  const id = integer(raw?.['message_id']);
  const date = integer(raw?.['date']);
  const chat = readChat(raw?.['chat']);
  if (raw === undefined || id === undefined || date === undefined || chat === undefined) return undefined;
  const from = readUser(raw['from']);
  const senderChat = readChat(raw['sender_chat']);
  const editDate = integer(raw['edit_date']);
  const signature = text(raw['author_signature']);
  const threadId = integer(raw['message_thread_id']);
  const directTopicId = integer(record(raw['direct_messages_topic'])?.['topic_id']);
  const albumId = text(raw['media_group_id']);
  return {
    id,
    dateMs: date * 1000,
    chat,
    isTopicMessage: raw['is_topic_message'] === true,
    raw,
    ...(editDate !== undefined && { editDate }),
    ...(from !== undefined && { from }),
    ...(senderChat !== undefined && { senderChat }),
    ...(signature !== undefined && { signature }),
    ...(threadId !== undefined && { threadId }),
    ...(directTopicId !== undefined && { directTopicId }),
    ...(albumId !== undefined && { albumId }),
  };
};

const addressing: ReadonlySet<unknown> = new Set(['mention', 'text_mention', 'bot_command']);
const isAddressing = (type: unknown): type is WireEntity['type'] => addressing.has(type);

export const readEntities = (value: unknown): readonly WireEntity[] =>
  list(value).flatMap((item): WireEntity[] => {
    const raw = record(item);
    const type = raw?.['type'];
    const offset = integer(raw?.['offset']);
    const length = integer(raw?.['length']);
    if (!isAddressing(type) || offset === undefined || length === undefined || offset < 0 || length <= 0) return [];
    const user = readUser(raw?.['user']);
    return [{ type, offset, length, ...(user !== undefined && { userId: user.id, userIsBot: user.isBot }) }];
  });

export const readLocation = (value: unknown): WireLocation | undefined => {
  const raw = record(value);
  const latitude = finite(raw?.['latitude']);
  const longitude = finite(raw?.['longitude']);
  if (raw === undefined || latitude === undefined || longitude === undefined) return undefined;
  return { latitude, longitude, isLive: integer(raw['live_period']) !== undefined };
};
