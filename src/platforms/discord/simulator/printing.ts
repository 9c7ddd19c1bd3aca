import { isThreadType } from '../wire.ts';
import type { Json } from '../wire.ts';
import { isInGuild, memberOf, person } from './world.ts';
import type { Channel, StoredFile, StoredMessage, World } from './world.ts';

const iso = (atMs: number): string => new Date(atMs).toISOString().replace('Z', '000+00:00');

/** Where files are. */
export interface Printer {
  readonly world: World;
  readonly filesUrl: () => string;
}

const printFile = ({ filesUrl }: Printer, channel: Channel, file: StoredFile): Json => {
  const url = `${filesUrl()}/attachments/${channel.id}/${file.id}/${encodeURIComponent(file.name)}?ex=1&hm=2`;
  return {
    id: file.id,
    filename: file.name,
    size: file.bytes.byteLength,
    content_type: file.mime,
    url,
    proxy_url: url,
    ...(file.durationSeconds !== undefined && { duration_secs: file.durationSeconds, waveform: file.waveform }),
  };
};

const emojiOf = (emoji: string): Json => ({ id: null, name: emoji });

const mentionsIn = ({ world }: Printer, message: StoredMessage, original: StoredMessage | undefined): readonly Json[] => {
  const named = [...message.content.matchAll(/<@!?(\d+)>/g)].map(([, id = '']) => (id === world.bot.id ? world.bot : person(id)));
  return original === undefined || named.some(({ id }) => id === original.author['id']) ? named : [...named, original.author];
};

/** A message as the HTTP API prints it. */
export const printMessage = (printer: Printer, channel: Channel, message: StoredMessage): Json => {
  const original = message.replyTo === undefined ? undefined : channel.messages.get(message.replyTo);
  return {
    id: message.id,
    channel_id: channel.id,
    type: message.type,
    content: message.content,
    author: message.author,
    timestamp: iso(message.atMs),
    edited_timestamp: message.editedAt,
    tts: false,
    mention_everyone: false,
    mentions: mentionsIn(printer, message, original),
    mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id),
    attachments: message.files.map((file) => printFile(printer, channel, file)),
    embeds: [],
    pinned: false,
    flags: message.flags,
    components: message.components,
    ...(message.reactions.size > 0 && { reactions: [...message.reactions].filter(([, users]) => users.size > 0).map(([emoji, users]) => ({ emoji: emojiOf(emoji), count: users.size, me: users.has(printer.world.bot.id), count_details: { burst: 0, normal: users.size }, me_burst: false, burst_colors: [] })) }),
    ...(message.nonce !== undefined && { nonce: message.nonce }),
    ...(message.replyTo !== undefined && { message_reference: { type: 0, message_id: message.replyTo, channel_id: channel.id }, referenced_message: original === undefined ? null : printMessage(printer, channel, original) }),
  };
};

/** The same as the gateway tells it: with the server, and what the author is there. */
export const tellMessage = (printer: Printer, channel: Channel, message: StoredMessage): Json => ({
  ...printMessage(printer, channel, message),
  channel_type: channel.type,
  ...(isInGuild(channel) && { guild_id: printer.world.guildId, member: memberOf(printer.world, String(message.author['id'])) }),
});

const threadFacts = (world: World, channel: Channel): Json => ({
  owner_id: world.bot.id,
  message_count: channel.messages.size,
  member_count: 1,
  thread_metadata: { archived: false, auto_archive_duration: 1440, archive_timestamp: iso(world.clock.now()), locked: false },
  ...(channel.joined && { member: { id: channel.id, user_id: world.bot.id, join_timestamp: iso(world.clock.now()), flags: 0 } }),
});

export const printChannel = (world: World, channel: Channel): Json => ({
  id: channel.id,
  type: channel.type,
  last_message_id: [...channel.messages.keys()].at(-1) ?? null,
  ...(channel.recipient !== undefined && { recipients: [person(channel.recipient)] }),
  ...(isInGuild(channel) && { guild_id: world.guildId, name: channel.name, position: 0, permission_overwrites: [], topic: null, nsfw: false, parent_id: channel.parentId ?? null, rate_limit_per_user: 0, flags: 0 }),
  ...(isThreadType(channel.type) && threadFacts(world, channel)),
});

export const printGuild = (world: World): Json => {
  const all = [...world.channels.values()].filter(isInGuild);
  return {
    id: world.guildId,
    name: 'Workshop',
    icon: null,
    owner_id: '1000000000000000099',
    unavailable: false,
    large: false,
    member_count: 2,
    members: [{ ...memberOf(world, world.bot.id), user: world.bot }],
    channels: all.filter(({ type }) => !isThreadType(type)).map((channel) => printChannel(world, channel)),
    threads: all.filter(({ type }) => isThreadType(type)).map((channel) => printChannel(world, channel)),
    roles: [{ id: world.guildId, name: '@everyone', color: 0, colors: { primary_color: 0, secondary_color: null, tertiary_color: null }, hoist: false, position: 0, permissions: '0', managed: false, mentionable: false, flags: 0 }],
    emojis: [],
    stickers: [],
    features: [],
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    joined_at: iso(world.clock.now()),
    preferred_locale: 'en-US',
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    nsfw_level: 0,
    premium_tier: 0,
    premium_progress_bar_enabled: false,
    system_channel_flags: 0,
    afk_timeout: 300,
    application_id: null,
  };
};
