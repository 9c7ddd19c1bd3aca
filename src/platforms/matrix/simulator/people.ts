import { randomUUID } from 'node:crypto';
import type { MediaKind } from '../../../core/message.ts';
import type { SimulatedMessage } from '../../simulator.ts';
import { encryptFile } from '../encrypted-file.ts';
import type { Json } from '../wire.ts';
import { addUser, createRoom, membershipOf, setMembership } from './world.ts';
import type { Room, World } from './world.ts';

const types: Readonly<Record<MediaKind, string>> = { photo: 'm.image', animation: 'm.image', sticker: 'm.image', video: 'm.video', audio: 'm.audio', voice: 'm.audio', document: 'm.file' };

/** The way a person's client writes a mention: a pill, the name in the plain text, and the id beside it. */
const mention = (botId: string, botName: string, text: string): Json => ({
  body: `${botName}: ${text}`,
  format: 'org.matrix.custom.html',
  formatted_body: `<a href="https://matrix.to/#/${encodeURIComponent(botId)}">${botName}</a>: ${text}`,
  'm.mentions': { user_ids: [botId] },
});

const fileContent = (world: World, media: NonNullable<SimulatedMessage['media']>, caption: string, encrypted: boolean): Json => {
  const id = randomUUID().replaceAll('-', '');
  const url = `mxc://${world.server}/${id}`;
  const sealed = encrypted ? encryptFile(Buffer.from(media.bytes)) : undefined;
  world.files.set(id, { bytes: sealed?.bytes ?? media.bytes, mime: sealed === undefined ? media.mime : 'application/octet-stream', name: media.name });
  const info = { mimetype: media.mime, size: media.bytes.byteLength, ...(media.durationMs !== undefined && { duration: media.durationMs }) };
  return {
    msgtype: types[media.kind],
    ...(caption === '' ? { body: media.name } : { body: caption, filename: media.name }),
    info,
    ...(sealed === undefined ? { url } : { file: { ...sealed.file, url } }),
    ...(media.kind === 'voice' && { 'org.matrix.msc3245.voice': {}, 'org.matrix.msc1767.audio': { duration: media.durationMs ?? 0 } }),
  };
};

const relationOf = ({ threadId, replyTo }: SimulatedMessage): Json => {
  if (threadId !== undefined) return { 'm.relates_to': { rel_type: 'm.thread', event_id: threadId, is_falling_back: replyTo === undefined, 'm.in_reply_to': { event_id: replyTo ?? threadId } } };
  return replyTo === undefined ? {} : { 'm.relates_to': { 'm.in_reply_to': { event_id: replyTo } } };
};

/** What a person's client sends for a message. */
export const contentOf = (world: World, said: SimulatedMessage, bot: { readonly id: string; readonly name: string }, encrypted: boolean): Json => {
  const words = said.mention === true ? mention(bot.id, bot.name, said.text) : { body: said.text, 'm.mentions': {} };
  const file = said.media === undefined ? { msgtype: 'm.text', ...words } : fileContent(world, said.media, said.text, encrypted);
  return { ...file, ...relationOf(said) };
};

/** The room of a message, with its people in it; one that does not exist yet comes into being. */
export const enter = (world: World, said: Pick<SimulatedMessage, 'chatId' | 'chatType' | 'senderId' | 'senderName'>, bot: string, encrypted: boolean): Room => {
  addUser(world, said.senderId, said.senderName ?? said.senderId.slice(1).split(':', 1)[0] ?? said.senderId);
  const known = world.rooms.get(said.chatId);
  const room = known ?? createRoom(world, { id: said.chatId, creator: said.senderId, encrypted, ...(said.chatType !== 'dm' && { name: `Room ${said.chatId.slice(1, 6)}` }) });
  const others = said.chatType === 'dm' ? [] : [addUser(world, `@carol:${world.server}`, 'Carol').id];
  for (const userId of [said.senderId, bot, ...others]) if (membershipOf(room, userId) !== 'join') setMembership(world, room, { userId, membership: 'join' });
  return room;
};
