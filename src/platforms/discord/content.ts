import type { MediaKind, MediaRef } from '../../core/message.ts';
import { integer, list, messageFlags, record, snowflake, text } from './wire.ts';
import type { Json, WireMessage } from './wire.ts';

export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
}

const kindOf = (mime: string, isVoice: boolean): MediaKind => {
  if (isVoice) return 'voice';
  if (mime === 'image/gif') return 'animation';
  const [family] = mime.split('/', 1);
  return family === 'image' ? 'photo' : family === 'video' || family === 'audio' ? family : 'document';
};

/** Where a file of a message can be found again: its address expires within a day, the message does not. */
const mediaRef = (value: unknown, message: Pick<WireMessage, 'id' | 'channelId'>, isVoice: boolean): MediaRef | undefined => {
  const raw = record(value);
  const id = snowflake(raw?.['id']);
  if (raw === undefined || id === undefined) return undefined;
  const mime = text(raw['content_type'])?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/octet-stream';
  const name = text(raw['filename']);
  const sizeBytes = integer(raw['size']);
  const seconds = Number(raw['duration_secs']);
  return {
    kind: kindOf(mime, isVoice),
    mime,
    uniqueId: id,
    ref: { channel_id: message.channelId, message_id: message.id, attachment_id: id },
    ...(name !== undefined && { name }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(raw['duration_secs'] !== undefined && Number.isFinite(seconds) && { durationMs: Math.round(seconds * 1000) }),
  };
};

const readMedia = (raw: Json, message: WireMessage): readonly MediaRef[] =>
  list(raw['attachments']).flatMap((attachment) => mediaRef(attachment, message, ((integer(raw['flags']) ?? 0) & messageFlags.voice) !== 0) ?? []);

const pollNote = (poll: Json): string => {
  const answers = list(poll['answers']).flatMap((answer) => text(record(record(answer)?.['poll_media'])?.['text']) ?? []);
  return `[poll: ${text(record(poll['question'])?.['text']) ?? ''} (${answers.join(' | ')})]`;
};

/** Things without words of their own become a short note, so that the agent learns that they came. */
const readNotes = (raw: Json): readonly string[] => {
  const stickers = list(raw['sticker_items']).flatMap((sticker) => text(record(sticker)?.['name']) ?? []);
  const poll = record(raw['poll']);
  return [...stickers.map((name) => `[sticker: ${name}]`), ...(poll === undefined ? [] : [pollNote(poll)])];
};

/** What a message says and carries, also what it passes on; undefined when there is nothing in it. */
export const readContent = (message: WireMessage): Content | undefined => {
  const forwarded = list(message.raw['message_snapshots']).flatMap((snapshot): readonly Json[] => {
    const inner = record(record(snapshot)?.['message']);
    return inner === undefined ? [] : [inner];
  });
  const passedOn = forwarded.map((inner) => [`[forwarded] ${text(inner['content']) ?? ''}`.trim(), ...readNotes(inner)].join('\n'));
  const parts = [message.content, ...readNotes(message.raw), ...passedOn].filter((part) => part !== '');
  const media = [message.raw, ...forwarded].flatMap((raw) => readMedia(raw, message));
  return parts.length === 0 && media.length === 0 ? undefined : { text: parts.join('\n'), media };
};
