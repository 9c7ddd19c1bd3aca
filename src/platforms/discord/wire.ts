/** A JSON object that nobody has checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Json | undefined => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Lone surrogates are replaced. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value.toWellFormed() : undefined);

export const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);

/** Discord's ids: numbers too long for JavaScript, written as text, whose upper bits are the time of their making. */
export const snowflake = (value: unknown): string | undefined => (typeof value === 'string' && /^\d{1,20}$/.test(value) ? value : undefined);

export const snowflakes = (value: unknown): readonly string[] => list(value).flatMap((item) => snowflake(item) ?? []);

/** https://discord.com/developers/docs/reference#snowflakes */
const discordEpochMs = 1_420_070_400_000;

export const snowflakeAt = (atMs: number): string => String(BigInt(Math.max(0, Math.floor(atMs) - discordEpochMs)) << 22n);

export const snowflakeTimeMs = (id: string): number => Number(BigInt(id) >> 22n) + discordEpochMs;

export const isNewer = (id: string, than: string): boolean => BigInt(id) > BigInt(than);

/** Kinds of channels. https://discord.com/developers/docs/resources/channel#channel-object-channel-types */
export const channelTypes = { text: 0, dm: 1, voice: 2, announcement: 5, announcementThread: 10, publicThread: 11, privateThread: 12, stage: 13, forum: 15, media: 16 } as const;

export const isThreadType = (type: number | undefined): boolean =>
  type === channelTypes.announcementThread || type === channelTypes.publicThread || type === channelTypes.privateThread;

/** Channels that hold posts and no messages of their own. */
export const isForumType = (type: number | undefined): boolean => type === channelTypes.forum || type === channelTypes.media;

export const messageFlags = { suppressEmbeds: 1 << 2, ephemeral: 1 << 6, hasThread: 1 << 5, quiet: 1 << 12, voice: 1 << 13 } as const;

export interface WireUser {
  readonly id: string;
  readonly isBot: boolean;
  readonly name?: string;
}

/** The part of a message that says who, where and when; the content stays in `raw`. */
export interface WireMessage {
  readonly id: string;
  readonly channelId: string;
  readonly guildId?: string;
  readonly author: WireUser;
  readonly type: number;
  readonly content: string;
  readonly flags: number;
  readonly sentAtMs: number;
  readonly editedAt?: string;
  /** Of the author, in the guild where this was said and nowhere else. */
  readonly roles?: readonly string[];
  readonly raw: Json;
}

export const readUser = (value: unknown): WireUser | undefined => {
  const raw = record(value);
  const id = snowflake(raw?.['id']);
  if (raw === undefined || id === undefined) return undefined;
  const name = text(raw['global_name']) ?? text(raw['username']);
  return { id, isBot: raw['bot'] === true, ...(name !== undefined && { name }) };
};

/** A person as a guild knows them: by nickname, with the roles they have there. */
export const readMember = (value: unknown): { readonly nick?: string; readonly roles?: readonly string[] } => {
  const raw = record(value);
  const nick = text(raw?.['nick']);
  return { ...(nick !== undefined && { nick }), ...(Array.isArray(raw?.['roles']) && { roles: snowflakes(raw['roles']) }) };
};

const instant = (value: unknown): number | undefined => {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
};

/** Undefined when the fields that every message has are missing or of another type. */
export const readMessage = (value: unknown): WireMessage | undefined => {
  const raw = record(value);
  const id = snowflake(raw?.['id']);
  const channelId = snowflake(raw?.['channel_id']);
  const user = readUser(raw?.['author']);
  if (raw === undefined || id === undefined || channelId === undefined || user === undefined) return undefined;
  const guildId = snowflake(raw['guild_id']);
  const { nick, roles } = readMember(raw['member']);
  const editedAt = text(raw['edited_timestamp']);
  return {
    id,
    channelId,
    // What comes through a webhook was not written by a person, whatever name it bears.
    author: { ...user, isBot: user.isBot || raw['webhook_id'] !== undefined, ...(nick !== undefined && { name: nick }) },
    type: integer(raw['type']) ?? 0,
    content: text(raw['content']) ?? '',
    flags: integer(raw['flags']) ?? 0,
    sentAtMs: instant(raw['timestamp']) ?? snowflakeTimeMs(id),
    raw,
    ...(guildId !== undefined && { guildId }),
    ...(editedAt !== undefined && { editedAt }),
    ...(guildId !== undefined && roles !== undefined && { roles }),
  };
};
