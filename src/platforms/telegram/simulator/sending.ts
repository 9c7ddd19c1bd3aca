import type { MediaKind } from '../../../core/message.ts';
import type { ChatMessage, SimulatedChat, StoredFile } from './chats.ts';
import { readButtons, readCaption, readReply, readText, readThread, wireMessage } from './outgoing.ts';
import type { Params, Words } from './outgoing.ts';
import { badRequest, Refusal } from './refusal.ts';
import type { UploadedFile } from './request-body.ts';
import { nowSeconds } from './world.ts';
import type { World } from './world.ts';

export interface Call {
  readonly world: World;
  readonly params: Params;
  readonly files: ReadonlyMap<string, UploadedFile>;
}

const maxUploadBytes = 50 * 1024 * 1024;
const maxPhotoBytes = 10 * 1024 * 1024;

/** The chat of a call, unless it has moved or shut us out. */
export const chatOf = ({ world, params }: Pick<Call, 'world' | 'params'>): SimulatedChat => {
  const chat = world.chats.get(params['chat_id']);
  if (chat.refusal !== undefined) throw chat.refusal;
  return chat;
};

const place = (call: Call, content: Words & { files: readonly StoredFile[]; albumId?: string }): Readonly<Record<string, unknown>> => {
  const { world, params } = call;
  const chat = chatOf(call);
  const threadId = readThread(chat, params);
  const replyTo = readReply(chat, params);
  const message: ChatMessage = {
    ...content,
    id: world.chats.nextId(),
    fromBot: true,
    from: world.bot,
    date: nowSeconds(world),
    buttons: readButtons(params),
    reaction: [],
    edited: 0,
    ...(threadId !== undefined && { threadId }),
    ...(replyTo !== undefined && { replyTo }),
  };
  chat.messages.set(message.id, message);
  return wireMessage(chat, message);
};

const takeFile = ({ world, files }: Call, kind: MediaKind, value: unknown): StoredFile => {
  const given = String(value);
  if (!given.startsWith('attach://')) {
    const known = world.files.get(given);
    if (known === undefined) throw badRequest('wrong remote file identifier specified: Wrong string length');
    return known;
  }
  const file = files.get(given.slice('attach://'.length));
  if (file === undefined) throw badRequest(`there is no ${kind} in the request`);
  if (file.bytes.byteLength === 0) throw badRequest('file must be non-empty');
  if (file.bytes.byteLength > maxUploadBytes) throw new Refusal(413, 'Request Entity Too Large');
  if (kind === 'photo' && file.bytes.byteLength > maxPhotoBytes) throw badRequest('file is too big');
  return world.files.add({ kind, name: file.name, bytes: file.bytes });
};

export const sendText = (call: Call): unknown => place(call, { ...readText(call.params), files: [] });

export const sendFile =
  (kind: MediaKind) =>
  (call: Call): unknown => {
    chatOf(call);
    return place(call, { ...readCaption(call.params), files: [takeFile(call, kind, call.params[kind])] });
  };

const mayMix = (kinds: ReadonlySet<string>): boolean => kinds.size === 1 || [...kinds].every((kind) => kind === 'photo' || kind === 'video');

export const sendAlbum = (call: Call): unknown => {
  chatOf(call);
  const items = call.params['media'] as readonly Params[];
  if (items.length < 2 || items.length > 10) throw badRequest('media must contain from 2 to 10 items');
  if (!mayMix(new Set(items.map((item) => String(item['type']))))) throw badRequest("this type of message can't be grouped with the others");
  const albumId = `album_${call.world.chats.nextId()}`;
  const contents = items.map((item) => ({ ...readCaption(item), files: [takeFile(call, item['type'] as MediaKind, item['media'])], albumId }));
  return contents.map((content) => place(call, content));
};
