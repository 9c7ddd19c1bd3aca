import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountData } from '../contract.ts';
import { addressOf, messageNumber } from './address.ts';
import type { Address } from './address.ts';
import { sentId } from './api.ts';
import type { TelegramApi } from './api.ts';
import { formatMarkdownV2, measureTelegram } from './format.ts';
import type { TelegramOptions } from './options.ts';
import { resumable } from '../progress.ts';
import { attached } from './upload-form.ts';
import { intoAlbums, prepareUploads } from './uploads.ts';
import type { Upload } from './uploads.ts';

const maxCaption = 1024;

/** One call to Telegram; `text` says that the words of the message go with it. */
interface Part {
  readonly uploads: readonly Upload[];
  readonly text: boolean;
  readonly choices: boolean;
}

/**
 * Cuts a message into the calls that show it. The words are the first file's caption where they fit, and come after the
 * files otherwise. An album carries no buttons.
 */
const planParts = (message: OutboundMessage, uploads: readonly Upload[]): readonly Part[] => {
  const hasText = message.text.trim() !== '';
  const hasChoices = (message.choices?.length ?? 0) > 0;
  const groups = hasChoices && !hasText ? uploads.map((upload) => [upload]) : intoAlbums(uploads);
  const first = groups[0];
  const canCaption = first !== undefined && first[0]?.shape !== 'sticker' && !(hasChoices && first.length > 1);
  const captioned = hasText && canCaption && (message.plain === true ? message.text.length : measureTelegram(message.text)) <= maxCaption;
  const parts = groups.map((group, index): Part => {
    const text = captioned && index === 0;
    return { uploads: group, text, choices: hasChoices && (hasText ? text : index === groups.length - 1) };
  });
  return hasText && !captioned ? [...parts, { uploads: [], text: true, choices: hasChoices }] : parts;
};

/** The text as Telegram wants it. */
export const written = (message: Pick<OutboundMessage, 'text' | 'plain'>): { text: string; parse_mode?: 'MarkdownV2' } =>
  message.plain === true ? { text: message.text } : { text: formatMarkdownV2(message.text), parse_mode: 'MarkdownV2' };

export const keyboardOf = (choices: OutboundMessage['choices']): { reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] } } =>
  choices === undefined || choices.length === 0
    ? {}
    : { reply_markup: { inline_keyboard: choices.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data }))) } };

interface Envelope extends Address {
  readonly disable_notification?: true;
  readonly reply_parameters?: { message_id: number; allow_sending_without_reply: true };
  readonly reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
}

const envelopeOf = (message: OutboundMessage, part: Part, isFirst: boolean): Envelope => {
  const replyTo = isFirst ? messageNumber(message.target.replyTo) : undefined;
  return {
    ...addressOf(message.target),
    ...(message.quiet === true && { disable_notification: true }),
    ...(replyTo !== undefined && { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
    ...(part.choices && keyboardOf(message.choices)),
  };
};

type Caption = { caption?: string; parse_mode?: 'MarkdownV2' };

const captionOf = (message: OutboundMessage, part: Part): Caption => {
  if (!part.text) return {};
  const { text, ...mode } = written(message);
  return { caption: text, ...mode };
};

const sendFile = (api: TelegramApi, upload: Upload, envelope: Envelope & Caption, signal: AbortSignal): Promise<unknown> => {
  const file = attached(0);
  const send: Parameters<typeof api.once<unknown>>[1] = (raw, s) => {
    switch (upload.shape) {
      case 'photo':
        return raw.sendPhoto({ ...envelope, photo: file }, s);
      case 'video':
        return raw.sendVideo({ ...envelope, video: file }, s);
      case 'animation':
        return raw.sendAnimation({ ...envelope, animation: file }, s);
      case 'audio':
        return raw.sendAudio({ ...envelope, audio: file }, s);
      case 'voice':
        return raw.sendVoice({ ...envelope, voice: file }, s);
      case 'sticker':
        return raw.sendSticker({ ...envelope, sticker: file }, s);
      case 'document':
        return raw.sendDocument({ ...envelope, document: file }, s);
      default:
        return upload.shape satisfies never;
    }
  };
  return api.once(signal, send, [upload]);
};

/** All items of an album are of one class, see `intoAlbums`. */
const albumOf = (uploads: readonly Upload[], words: Caption) => {
  const item = <Type extends string>(type: Type, index: number) => ({ type, media: attached(index), ...(index === 0 && words) });
  switch (uploads[0]?.shape) {
    case 'audio':
      return uploads.map((_, index) => item('audio', index));
    case 'document':
      return uploads.map((_, index) => item('document', index));
    default:
      return uploads.map(({ shape }, index) => (shape === 'video' ? item('video', index) : item('photo', index)));
  }
};

const sendAlbum = async (api: TelegramApi, part: Part, message: { envelope: Envelope; words: Caption }, signal: AbortSignal): Promise<readonly string[]> => {
  const media = albumOf(part.uploads, message.words);
  const messages: unknown = await api.once(signal, (raw, s) => raw.sendMediaGroup({ ...message.envelope, media }, s), part.uploads);
  if (!Array.isArray(messages) || messages.length === 0) throw new PlatformError('unknown_outcome', 'Telegram answered without the messages of the album');
  return messages.map(sentId);
};

/** Sends one message; it makes each call once. A message of several calls goes on where it stopped when it is repeated. */
export const newSend = ({ api, options, data, clock }: { api: TelegramApi; options: TelegramOptions; data: AccountData; clock: Clock }) => {
  const preview = options.disable_link_previews ? { link_preview_options: { is_disabled: true } } : {};

  const sendPart = async (message: OutboundMessage, part: Part, isFirst: boolean, signal: AbortSignal): Promise<readonly string[]> => {
    const envelope = envelopeOf(message, part, isFirst);
    const [upload, second] = part.uploads;
    if (upload === undefined) return [sentId(await api.once(signal, (raw, s) => raw.sendMessage({ ...envelope, ...written(message), ...preview }, s)))];
    const words = captionOf(message, part);
    if (second !== undefined) return sendAlbum(api, part, { envelope, words }, signal);
    return [sentId(await sendFile(api, upload, { ...envelope, ...words }, signal))];
  };

  return async (message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
    const parts = planParts(message, await prepareUploads(message.media ?? []));
    if (parts.length === 0) throw new PlatformError('rejected', 'there is nothing to send');
    const messageIds = await resumable({ data, key: message.key, nowMs: clock.now() }, parts, (part, index) => sendPart(message, part, index === 0, signal));
    return { messageIds };
  };
};
