import type { MediaKind, MediaRef } from '../../core/message.ts';
import { readText } from './text.ts';
import { integer, record, records, text } from './wire.ts';
import type { Json } from './wire.ts';

export interface Content {
  /** In our words, mentions still in it. */
  readonly text: string;
  readonly media: readonly MediaRef[];
}

/** What Slack's own recorders make is meant to be heard or seen as it is. */
const kindOf = (file: Json, mime: string): MediaKind => {
  if (file['subtype'] === 'slack_audio') return 'voice';
  if (mime === 'image/gif') return 'animation';
  if (mime.startsWith('image/') && mime !== 'image/svg+xml') return 'photo';
  if (mime.startsWith('video/')) return 'video';
  return mime.startsWith('audio/') ? 'audio' : 'document';
};

/** Files that Slack only points to, or shows no longer. */
const notHere: ReadonlySet<unknown> = new Set(['external', 'tombstone', 'hidden_by_limit', 'space', 'canvas', 'list']);

const readFile = (file: Json, teamId: string): MediaRef | undefined => {
  const id = text(file['id']);
  if (id === undefined || notHere.has(file['mode'])) return undefined;
  const mime = text(file['mimetype']) ?? 'application/octet-stream';
  const name = text(file['name']) ?? text(file['title']);
  const sizeBytes = integer(file['size']);
  const durationMs = integer(file['duration_ms']);
  return {
    kind: kindOf(file, mime),
    mime,
    uniqueId: id,
    ref: { file: id, team: teamId },
    ...(name !== undefined && { name }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(durationMs !== undefined && { durationMs }),
  };
};

const noteOfFile = (file: Json): string => {
  const address = text(file['external_url']) ?? text(file['permalink']);
  return `[file: ${[text(file['title']) ?? text(file['name']), address].filter((part) => part !== undefined).join(' ')}]`;
};

/** A message that somebody has passed on stands as an attachment; other attachments are previews of links, or a bot's text. */
const noteOfAttachment = (attachment: Json, alone: boolean): readonly string[] => {
  const isShared = attachment['is_share'] === true || attachment['is_msg_unfurl'] === true;
  const words = text(attachment['text']) ?? text(attachment['fallback']);
  if (words === undefined || (!isShared && !alone)) return [];
  return [isShared ? `[shared message by ${text(attachment['author_name']) ?? 'somebody'}: ${readText(words)}]` : readText(words)];
};

/** The words of blocks that a bot has written without a text beside them. */
const blockText = (blocks: unknown): string =>
  records(blocks)
    .flatMap((block) => text(record(block['text'])?.['text']) ?? records(block['fields']).flatMap((field) => text(field['text']) ?? []))
    .join('\n');

/** What a message says and carries; undefined when it is empty. */
export const readContent = (raw: Json, teamId: string): Content | undefined => {
  const files = records(raw['files']);
  const said = text(raw['text']) ?? blockText(raw['blocks']);
  const elsewhere = files.filter((file) => notHere.has(file['mode']) && file['mode'] !== 'tombstone').map(noteOfFile);
  const attached = records(raw['attachments']).flatMap((attachment) => noteOfAttachment(attachment, said === ''));
  const media = files.flatMap((file) => readFile(file, teamId) ?? []);
  const words = [readText(said), ...attached, ...elsewhere].filter((part) => part !== '').join('\n');
  return words === '' && media.length === 0 ? undefined : { text: words, media };
};
