import { record } from '../wire.ts';
import type { Json } from '../wire.ts';
import type { Button, ChatMessage, SimulatedChat } from './chats.ts';
import { generalTopicId } from './chats.ts';
import { parseMarkdownV2 } from './markdown-v2.ts';
import type { MarkupEntity } from './markdown-v2.ts';
import { badRequest } from './refusal.ts';

export type Params = Json;

const maxText = 4096;
const maxCaption = 1024;

export interface Words {
  readonly text: string;
  readonly entities: readonly MarkupEntity[];
}

const marked = (source: string, mode: unknown): Words => {
  if (mode === undefined) return { text: source, entities: [] };
  if (mode !== 'MarkdownV2') throw badRequest('unsupported parse_mode');
  const markup = parseMarkdownV2(source);
  if (!markup.ok) throw badRequest(`can't parse entities: ${markup.error}`);
  return markup;
};

/** Telegram drops the space around a text and counts what is left, without its markup. */
const readWords = (source: unknown, mode: unknown): Words => {
  const { text, entities } = marked(typeof source === 'string' ? source : '', mode);
  const lead = text.length - text.trimStart().length;
  return { text: text.trim(), entities: entities.map((entity) => ({ ...entity, offset: Math.max(0, entity.offset - lead) })) };
};

export const readText = (params: Params): Words => {
  const words = readWords(params['text'], params['parse_mode']);
  if (words.text === '') throw badRequest('message text is empty');
  if (words.text.length > maxText) throw badRequest('message is too long');
  return words;
};

export const readCaption = (params: Params): Words => {
  const words = readWords(params['caption'], params['parse_mode']);
  if (words.text.length > maxCaption) throw badRequest('message caption is too long');
  return words;
};

export const readButtons = (params: Params): readonly (readonly Button[])[] => {
  const rows = record(params['reply_markup'])?.['inline_keyboard'];
  if (!Array.isArray(rows)) return [];
  const buttons = rows as readonly (readonly Button[])[];
  for (const { text, callback_data } of buttons.flat()) {
    if (text === '') throw badRequest('inline keyboard button text must be non-empty');
    if (callback_data === '' || Buffer.byteLength(callback_data) > 64) throw badRequest('BUTTON_DATA_INVALID');
  }
  return buttons;
};

export const readThread = (chat: SimulatedChat, params: Params): number | undefined => {
  const given = params['message_thread_id'] ?? params['direct_messages_topic_id'];
  if (given === undefined) return undefined;
  const thread = Number(given);
  if (thread === generalTopicId || !chat.topics.has(thread)) throw badRequest('message thread not found');
  return thread;
};

export const readReply = (chat: SimulatedChat, params: Params): number | undefined => {
  const reply = record(params['reply_parameters']);
  if (reply === undefined) return undefined;
  const id = Number(reply['message_id']);
  if (chat.messages.has(id)) return id;
  if (reply['allow_sending_without_reply'] === true) return undefined;
  throw badRequest('message to be replied not found');
};

export const wireChat = (chat: SimulatedChat): Json => ({
  id: chat.id,
  type: chat.kind,
  ...(chat.kind === 'private' ? { first_name: `Person ${chat.id}` } : { title: `Chat ${chat.id}` }),
  ...(chat.isForum && { is_forum: true }),
});

const fileFields = (message: ChatMessage): Json => {
  const [file] = message.files;
  if (file === undefined) return {};
  const content = { file_id: file.fileId, file_unique_id: `u${file.fileId}`, file_size: file.bytes.byteLength };
  if (file.kind === 'photo') return { photo: [{ ...content, width: 800, height: 600 }] };
  return { [file.kind]: { ...content, file_name: file.name } };
};

/** The message as answers and updates carry it. */
export const wireMessage = (chat: SimulatedChat, message: ChatMessage, withReply = true): Json => {
  const hasFile = message.files.length > 0;
  const words = message.text === '' ? {} : { [hasFile ? 'caption' : 'text']: message.text };
  const entities = message.entities.length === 0 ? {} : { [hasFile ? 'caption_entities' : 'entities']: message.entities };
  const replied = message.replyTo === undefined || !withReply ? undefined : chat.messages.get(message.replyTo);
  return {
    message_id: message.id,
    from: message.from,
    chat: wireChat(chat),
    date: message.date,
    ...(message.threadId !== undefined && { message_thread_id: message.threadId, is_topic_message: true }),
    ...(message.albumId !== undefined && { media_group_id: message.albumId }),
    ...(replied !== undefined && { reply_to_message: wireMessage(chat, replied, false) }),
    ...words,
    ...entities,
    ...fileFields(message),
    ...(message.edited > 0 && { edit_date: message.date }),
    ...(message.buttons.length > 0 && { reply_markup: { inline_keyboard: message.buttons } }),
  };
};
