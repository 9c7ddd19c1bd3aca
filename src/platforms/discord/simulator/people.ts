import type { SimulatedMessage } from '../../simulator.ts';
import { channelTypes } from '../wire.ts';
import type { Json } from '../wire.ts';
import { printChannel, printMessage, tellMessage } from './printing.ts';
import type { Printer } from './printing.ts';
import { addChannel, ids, isInGuild, memberOf, person } from './world.ts';
import type { Channel, StoredFile, StoredMessage, World } from './world.ts';
import { findMessage } from './writing.ts';

/** Something that happened, as the gateway tells it. */
export interface Happening {
  readonly nativeId: string;
  readonly name: string;
  readonly data: Json;
}

const typeFor: Readonly<Record<SimulatedMessage['chatType'], number>> = { dm: channelTypes.dm, group: channelTypes.text, channel: channelTypes.announcement, thread: channelTypes.publicThread };

/** The channel that somebody speaks in; one that nobody has spoken in yet comes into being. */
const channelFor = (world: World, { chatId, threadId, chatType, senderId }: Pick<SimulatedMessage, 'chatId' | 'threadId' | 'chatType' | 'senderId'>): Channel => {
  const id = threadId ?? chatId;
  const known = world.channels.get(id);
  if (known !== undefined) return known;
  const more = chatType === 'dm' ? { recipient: senderId } : chatType === 'thread' ? { parentId: ids.text } : {};
  return addChannel(world, { id, type: typeFor[chatType], name: `channel-${id}`, ...more });
};

const fileOf = (world: World, media: SimulatedMessage['media']): readonly StoredFile[] => {
  if (media === undefined) return [];
  const file: StoredFile = { id: world.nextId(), name: media.name, mime: media.mime, bytes: media.bytes, ...(media.kind === 'voice' && { durationSeconds: (media.durationMs ?? 1000) / 1000, waveform: 'AAAA' }) };
  world.files.set(file.id, file);
  return [file];
};

export const speak = (printer: Printer, said: SimulatedMessage): Happening => {
  const { world } = printer;
  const channel = channelFor(world, said);
  const message: StoredMessage = {
    id: world.nextId(),
    author: said.own === true ? world.bot : person(said.senderId, said.senderName),
    atMs: world.clock.now(),
    type: said.replyTo === undefined ? 0 : 19,
    content: `${said.mention === true ? `<@${world.bot.id}> ` : ''}${said.text}`,
    files: fileOf(world, said.media),
    components: [],
    flags: said.media?.kind === 'voice' ? 8192 : 0,
    editedAt: null,
    edited: 0,
    reactions: new Map(),
    ...(said.replyTo !== undefined && { replyTo: said.replyTo }),
  };
  channel.messages.set(message.id, message);
  return { nativeId: message.id, name: 'MESSAGE_CREATE', data: tellMessage(printer, channel, message) };
};

export const rewrite = (printer: Printer, channelId: string, messageId: string, content: string): Happening => {
  const channel = printer.world.channel(channelId);
  const message = findMessage(channel, messageId);
  message.content = content;
  message.editedAt = new Date(printer.world.clock.now()).toISOString();
  return { nativeId: `${messageId}:${message.editedAt}`, name: 'MESSAGE_UPDATE', data: tellMessage(printer, channel, message) };
};

const interaction = (printer: Printer, channel: Channel, senderId: string, more: Json): Happening => {
  const { world } = printer;
  const id = world.nextId();
  const token = `interaction-token-${id}`;
  world.interactions.set(token, { id, channelId: channel.id });
  const who = isInGuild(channel) ? { guild_id: world.guildId, member: { ...memberOf(world, senderId), user: person(senderId), permissions: '0' } } : { user: person(senderId) };
  const data = { id, token, application_id: world.applicationId, version: 1, channel_id: channel.id, channel: printChannel(world, channel), locale: 'en-US', entitlements: [], authorizing_integration_owners: {}, app_permissions: '0', attachment_size_limit: 10_485_760, ...who, ...more };
  return { nativeId: id, name: 'INTERACTION_CREATE', data };
};

export const press = (printer: Printer, where: { readonly chatId: string; readonly messageId: string; readonly data: string; readonly senderId: string }): Happening => {
  const channel = printer.world.channel(where.chatId);
  const message = findMessage(channel, where.messageId);
  return interaction(printer, channel, where.senderId, { type: 3, data: { component_type: 2, custom_id: where.data, id: 1 }, message: printMessage(printer, channel, message) });
};

/** Somebody chooses a command from the menu. */
export const command = (printer: Printer, where: { readonly chatId: string; readonly senderId: string; readonly name: string; readonly words?: string }): Happening => {
  const options = where.words === undefined ? [] : [{ type: 3, name: 'text', value: where.words }];
  return interaction(printer, printer.world.channel(where.chatId), where.senderId, { type: 2, data: { id: '1', name: where.name, type: 1, options } });
};

export const reactTo = (printer: Printer, where: { readonly chatId: string; readonly messageId: string; readonly senderId: string; readonly emoji: string; readonly added: boolean }): Happening => {
  const { world } = printer;
  const channel = world.channel(where.chatId);
  const who = isInGuild(channel) ? { guild_id: world.guildId, ...(where.added && { member: { ...memberOf(world, where.senderId), user: person(where.senderId) } }) } : {};
  const data = { user_id: where.senderId, channel_id: channel.id, message_id: where.messageId, emoji: { id: null, name: where.emoji }, burst: false, type: 0, ...who };
  return { nativeId: '', name: where.added ? 'MESSAGE_REACTION_ADD' : 'MESSAGE_REACTION_REMOVE', data };
};
