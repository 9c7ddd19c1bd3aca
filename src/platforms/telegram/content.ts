import type { InboundEvent, MediaKind, MediaRef } from '../../core/message.ts';
import { integer, list, readEntities, readLocation, record, text } from './wire.ts';
import type { Json, WireEntity } from './wire.ts';

export interface Content {
  readonly text: string;
  readonly entities: readonly WireEntity[];
  readonly media: readonly MediaRef[];
  readonly location?: NonNullable<InboundEvent['location']>;
  /** A position that keeps changing: every change arrives as an edit. */
  readonly isLiveLocation: boolean;
}

interface FileKind {
  readonly field: string;
  readonly kind: MediaKind;
  readonly mime: string;
}

/** In order of precedence: an animation is also sent as a document, for old clients. */
const fileKinds: readonly FileKind[] = [
  { field: 'animation', kind: 'animation', mime: 'video/mp4' },
  { field: 'video', kind: 'video', mime: 'video/mp4' },
  { field: 'live_photo', kind: 'video', mime: 'video/mp4' },
  { field: 'video_note', kind: 'video', mime: 'video/mp4' },
  { field: 'voice', kind: 'voice', mime: 'audio/ogg' },
  { field: 'audio', kind: 'audio', mime: 'audio/mpeg' },
  { field: 'document', kind: 'document', mime: 'application/octet-stream' },
];

const mediaRef = (file: Json, kind: MediaKind, mime: string): MediaRef | undefined => {
  const fileId = text(file['file_id']);
  if (fileId === undefined) return undefined;
  const uniqueId = text(file['file_unique_id']);
  const name = text(file['file_name']);
  const sizeBytes = integer(file['file_size']);
  const seconds = integer(file['duration']);
  return {
    kind,
    mime: text(file['mime_type']) ?? mime,
    ref: { file_id: fileId },
    ...(name !== undefined && { name }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(seconds !== undefined && { durationMs: seconds * 1000 }),
    ...(uniqueId !== undefined && { uniqueId }),
  };
};

const area = (size: Json | undefined): number => (integer(size?.['width']) ?? 0) * (integer(size?.['height']) ?? 0);

const largestPhoto = (sizes: unknown): Json | undefined =>
  list(sizes)
    .map(record)
    .reduce((best, size) => (size !== undefined && (best === undefined || area(size) > area(best)) ? size : best), undefined);

const stickerMime = (sticker: Json): string => {
  if (sticker['is_animated'] === true) return 'application/x-tgsticker';
  return sticker['is_video'] === true ? 'video/webm' : 'image/webp';
};

const readMedia = (raw: Json): readonly MediaRef[] => {
  const photo = largestPhoto(raw['photo']);
  const sticker = record(raw['sticker']);
  const found = fileKinds.find(({ field }) => record(raw[field]) !== undefined);
  const file = found && record(raw[found.field]);
  const media = [
    photo && mediaRef(photo, 'photo', 'image/jpeg'),
    sticker && mediaRef(sticker, 'sticker', stickerMime(sticker)),
    found && file && mediaRef(file, found.kind, found.mime),
  ];
  return media.filter((item) => item !== undefined);
};

const deepestRichText = 40;

const richText = (value: unknown, depth = 0): string => {
  if (typeof value === 'string') return value.toWellFormed();
  if (depth > deepestRichText) return '';
  if (Array.isArray(value)) return value.map((item: unknown) => richText(item, depth + 1)).join('');
  const node = record(value);
  if (node === undefined) return '';
  const inner = ['text', 'blocks', 'items', 'cells', 'summary'].map((field) => richText(node[field], depth + 1)).join('');
  const isBlock = node['text'] !== undefined && depth > 0 && ['paragraph', 'heading', 'pre', 'footer'].includes(String(node['type']));
  return isBlock ? `${inner}\n` : inner;
};

const words = (...parts: readonly unknown[]): string => parts.map((part) => (typeof part === 'number' ? String(part) : text(part))).filter(Boolean).join(' ');

const texts = (items: unknown): string =>
  list(items)
    .map((item) => text(record(item)?.['text']))
    .filter((item) => item !== undefined)
    .join(' | ');

/** Things without words of their own become a short note, so that the agent learns that they came. */
const notes: Readonly<Record<string, (thing: Json) => string>> = {
  sticker: (thing) => words('sticker', thing['emoji']),
  contact: (thing) => words('contact', thing['first_name'], thing['last_name'], thing['phone_number']),
  poll: (thing) => `poll: ${words(thing['question'])} (${texts(thing['options'])})`,
  checklist: (thing) => `checklist: ${words(thing['title'])} (${texts(thing['tasks'])})`,
  dice: (thing) => words('dice', thing['emoji'], thing['value']),
  game: (thing) => words('game', thing['title']),
  invoice: (thing) => words('invoice', thing['title']),
  story: () => 'story',
  paid_media: () => 'paid media',
  giveaway: () => 'giveaway',
  web_app_data: (thing) => words('web app data:', thing['data']),
};

const readNote = (raw: Json): string => {
  for (const [field, note] of Object.entries(notes)) {
    const thing = record(raw[field]);
    if (thing !== undefined) return `[${note(thing)}]`;
  }
  return '';
};

/** What a message says and carries; undefined for service messages and for content that does not exist yet. */
export const readContent = (raw: Json): Content | undefined => {
  const said = text(raw['text']);
  const caption = text(raw['caption']);
  const rich = record(raw['rich_message']);
  const media = readMedia(raw);
  const venue = record(raw['venue']);
  const position = readLocation(venue?.['location'] ?? raw['location']);
  const title = words(venue?.['title'], venue?.['address']);
  const shown = said ?? caption ?? (rich === undefined ? readNote(raw) : richText(rich).trim());
  if (shown === '' && said === undefined && media.length === 0 && position === undefined) return undefined;
  return {
    text: shown,
    entities: readEntities(said === undefined ? raw['caption_entities'] : raw['entities']),
    media,
    isLiveLocation: position?.isLive ?? false,
    ...(position !== undefined && {
      location: { latitude: position.latitude, longitude: position.longitude, ...(title !== '' && { title }) },
    }),
  };
};

const envelope: ReadonlySet<string> = new Set([
  'message_id', 'message_thread_id', 'direct_messages_topic', 'from', 'sender_chat', 'sender_boost_count', 'sender_tag', 'date', 'chat',
  'is_topic_message', 'is_automatic_forward', 'reply_to_message', 'quote', 'edit_date', 'has_protected_content', 'author_signature',
]);

/** The field that a message without readable content is about, for the log. */
export const contentName = (raw: Json): string => Object.keys(raw).find((field) => !envelope.has(field)) ?? 'empty';
