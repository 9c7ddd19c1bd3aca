import type { MediaKind } from '../../../core/message.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { VisibleMessage } from '../../simulator.ts';
import { channelTypes, isForumType, isThreadType, list, record, snowflakeAt, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { shownText } from './markup.ts';
import { unknownChannel } from './refusal.ts';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly durationSeconds?: number;
  readonly waveform?: string;
}

export interface StoredMessage {
  readonly id: string;
  readonly author: Json;
  readonly atMs: number;
  readonly type: number;
  readonly replyTo?: string;
  readonly nonce?: string;
  flags: number;
  content: string;
  files: readonly StoredFile[];
  components: readonly unknown[];
  editedAt: string | null;
  edited: number;
  /** Emoji and who has put it there. */
  readonly reactions: Map<string, Set<string>>;
  /** Told to nobody but one person. */
  readonly ephemeral?: boolean;
}

export interface Channel {
  readonly id: string;
  readonly type: number;
  name: string;
  readonly parentId?: string;
  /** Of a direct chat. */
  readonly recipient?: string;
  readonly messages: Map<string, StoredMessage>;
  /** Of a thread: we take part in it. */
  joined: boolean;
}

/** Everything that Discord knows about one bot. */
export interface World {
  readonly bot: Json & { readonly id: string };
  readonly applicationId: string;
  readonly guildId: string;
  readonly clock: Clock;
  readonly channels: Map<string, Channel>;
  readonly files: Map<string, StoredFile>;
  readonly nonces: Map<string, { readonly channel: Channel; readonly message: StoredMessage }>;
  readonly typing: string[];
  /** Roles of people in the server. */
  readonly roles: Map<string, readonly string[]>;
  /** Open interactions by their token. */
  readonly interactions: Map<string, OpenInteraction>;
  commands: readonly unknown[];
  nextId(): string;
  channel(id: string): Channel;
}

export interface OpenInteraction {
  readonly id: string;
  readonly channelId: string;
  /** What was answered first, and later. */
  answered?: number;
  text?: string | undefined;
  original?: StoredMessage | undefined;
}

export const ids = { bot: '1000000000000000001', guild: '1000000000000000002', text: '1000000000000000010', announcements: '1000000000000000011', forum: '1000000000000000012', thread: '1000000000000000013', dm: '1000000000000000020', person: '1000000000000000030', botRole: '1000000000000000040' } as const;

const newChannel = (id: string, type: number, name: string, more: Partial<Channel> = {}): Channel => ({ id, type, name, messages: new Map(), joined: false, ...more });

export const newWorld = (clock: Clock): World => {
  let last = 0n;
  const channels = new Map<string, Channel>(
    [
      newChannel(ids.text, channelTypes.text, 'general'),
      newChannel(ids.announcements, channelTypes.announcement, 'news'),
      newChannel(ids.forum, channelTypes.forum, 'ideas'),
      newChannel(ids.thread, channelTypes.publicThread, 'plans', { parentId: ids.text, joined: true }),
      newChannel(ids.dm, channelTypes.dm, 'dm', { recipient: ids.person }),
    ].map((channel) => [channel.id, channel]),
  );
  return {
    bot: { id: ids.bot, username: 'hermes', global_name: null, discriminator: '0000', avatar: null, bot: true, public_flags: 0 },
    applicationId: ids.bot,
    guildId: ids.guild,
    clock,
    channels,
    files: new Map(),
    nonces: new Map(),
    typing: [],
    roles: new Map([[ids.bot, [ids.botRole]]]),
    interactions: new Map(),
    commands: [],
    nextId() {
      const now = BigInt(snowflakeAt(clock.now()));
      last = now > last ? now : last + 1n;
      return String(last);
    },
    channel(id) {
      const found = channels.get(id);
      if (found === undefined) throw unknownChannel();
      return found;
    },
  };
};

export const addChannel = (world: World, channel: Pick<Channel, 'id' | 'type' | 'name'> & Partial<Channel>): Channel => {
  const added = newChannel(channel.id, channel.type, channel.name, channel);
  world.channels.set(added.id, added);
  return added;
};

export const person = (id: string, name = `person${id}`): Json => ({ id, username: name, global_name: name, discriminator: '0', avatar: null, public_flags: 0 });

export const memberOf = (world: World, userId: string): Json => ({ roles: world.roles.get(userId) ?? [], nick: null, joined_at: '2026-01-01T00:00:00.000000+00:00', deaf: false, mute: false, flags: 0, avatar: null });

const kindOf = ({ mime }: StoredFile, flags: number): MediaKind => {
  if ((flags & 8192) !== 0) return 'voice';
  const [family] = mime.split('/', 1);
  if (family === 'image') return 'photo';
  return family === 'audio' || family === 'video' ? family : 'document';
};

const buttonsOf = (components: readonly unknown[]): VisibleMessage['choices'] =>
  components.flatMap((row) => list(record(row)?.['components']).map((item) => ({ label: text(record(item)?.['label']) ?? '', data: text(record(item)?.['custom_id']) ?? '' })));

/** What people see of the bot in a channel. */
export const visibleIn = (world: World, channelId: string): readonly VisibleMessage[] => {
  const channel = world.channels.get(channelId);
  return [...(channel?.messages.values() ?? [])]
    .filter((message) => message.author['id'] === world.bot.id && message.ephemeral !== true)
    .map((message) => ({
      id: message.id,
      chatId: channelId,
      ...(channel !== undefined && isThreadType(channel.type) && { threadId: channelId }),
      ...(message.replyTo !== undefined && { replyTo: message.replyTo }),
      text: shownText(message.content),
      media: message.files.map((file) => ({ kind: kindOf(file, message.flags), name: file.name, bytes: file.bytes })),
      choices: buttonsOf(message.components),
      reactions: [...message.reactions].filter(([, users]) => users.has(world.bot.id)).map(([emoji]) => emoji),
      edited: message.edited,
    }));
};

export const isInGuild = ({ type }: Channel): boolean => type !== channelTypes.dm;

export const holdsMessages = ({ type }: Channel): boolean => !isForumType(type);
