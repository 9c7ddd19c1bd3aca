import type { InboundEvent, MediaKind, MediaRef } from '../../core/message.ts';
import { integer, list, record, text } from './wire.ts';
import type { Json } from './wire.ts';

export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
  readonly location?: NonNullable<InboundEvent['location']>;
  /** Written by a program, by the rules of Matrix. */
  readonly isNotice: boolean;
}

const kinds: Readonly<Record<string, { readonly kind: MediaKind; readonly mime: string }>> = {
  'm.image': { kind: 'photo', mime: 'image/jpeg' },
  'm.video': { kind: 'video', mime: 'video/mp4' },
  'm.audio': { kind: 'audio', mime: 'audio/ogg' },
  'm.file': { kind: 'document', mime: 'application/octet-stream' },
  'm.sticker': { kind: 'sticker', mime: 'image/png' },
};

const isVoice = (content: Json): boolean => record(content['org.matrix.msc3245.voice']) !== undefined || record(content['m.voice']) !== undefined;

const kindOf = (type: string, content: Json, mime: string): MediaKind | undefined => {
  if (type === 'm.audio' && isVoice(content)) return 'voice';
  if (type === 'm.image' && mime === 'image/gif') return 'animation';
  return kinds[type]?.kind;
};

/** Where an encrypted file is, and how to read it; plain files have an address only. */
const readSource = (content: Json): MediaRef['ref'] | undefined => {
  const file = record(content['file']);
  if (file === undefined) {
    const url = text(content['url']);
    return url?.startsWith('mxc://') === true ? { url } : undefined;
  }
  const [url, key, iv, sha256] = [text(file['url']), text(record(file['key'])?.['k']), text(file['iv']), text(record(file['hashes'])?.['sha256'])];
  if (url?.startsWith('mxc://') !== true || key === undefined || iv === undefined || sha256 === undefined || text(file['v']) !== 'v2') return undefined;
  return { url, key, iv, sha256 };
};

const readMedia = (type: string, content: Json): MediaRef | undefined => {
  const info = record(content['info']);
  const mime = text(info?.['mimetype']) ?? kinds[type]?.mime ?? 'application/octet-stream';
  const kind = kindOf(type, content, mime);
  const ref = readSource(content);
  if (kind === undefined || ref === undefined) return undefined;
  const name = text(content['filename']) ?? text(content['body']);
  const sizeBytes = integer(info?.['size']);
  const durationMs = integer(info?.['duration']) ?? integer(record(content['org.matrix.msc1767.audio'])?.['duration']);
  return {
    kind,
    mime,
    ref,
    ...(name !== undefined && name !== '' && { name }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(durationMs !== undefined && { durationMs }),
  };
};

/** What people wrote below a file: the body, when the file's name stands elsewhere. */
const captionOf = (content: Json): string => {
  const [body, name] = [text(content['body']) ?? '', text(content['filename'])];
  return name !== undefined && body !== name ? body : '';
};

const readGeo = (uri: string | undefined): { latitude: number; longitude: number } | undefined => {
  const [, latitude, longitude] = /^geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)/.exec(uri ?? '') ?? [];
  return latitude === undefined || longitude === undefined ? undefined : { latitude: Number(latitude), longitude: Number(longitude) };
};

/** Older clients repeat what is answered in front of the answer. */
export const withoutFallback = (body: string): string => body.replace(/^(?:> [^\n]*(?:\n|$)|>(?:\n|$))+\n?/, '');

const readPoll = (type: string, content: Json): string => {
  const poll = record(content[type]) ?? record(content['m.poll']);
  const wordsOf = (value: unknown): string => text(record(value)?.['org.matrix.msc1767.text']) ?? text(record(value)?.['body']) ?? '';
  const answers = list(poll?.['answers']).map(wordsOf).filter((answer) => answer !== '');
  return `[poll: ${wordsOf(poll?.['question'])} (${answers.join(' | ')})]`;
};

const pollTypes: ReadonlySet<string> = new Set(['m.poll.start', 'org.matrix.msc3381.poll.start']);

const readMessage = (content: Json, isReply: boolean): Content | undefined => {
  const type = text(content['msgtype']) ?? '';
  const body = text(content['body']) ?? '';
  const said = isReply ? withoutFallback(body) : body;
  switch (type) {
    case 'm.text':
      return { text: said, media: [], isNotice: false };
    case 'm.notice':
      return { text: said, media: [], isNotice: true };
    case 'm.emote':
      return { text: `* ${said}`, media: [], isNotice: false };
    case 'm.location': {
      const place = readGeo(text(content['geo_uri']));
      return place === undefined ? undefined : { text: '', media: [], isNotice: false, location: { ...place, ...(body !== '' && { title: body }) } };
    }
    default: {
      const media = readMedia(type, content);
      if (media !== undefined) return { text: captionOf(content), media: [media], isNotice: false };
      // A kind that does not exist yet still says something in its body.
      return body === '' || kinds[type] !== undefined ? undefined : { text: said, media: [], isNotice: false };
    }
  }
};

/** What an event of a room says and carries; undefined when it says nothing to anybody. */
export const readContent = (type: string, content: Json, isReply: boolean): Content | undefined => {
  if (type === 'm.room.message') return readMessage(content, isReply);
  if (type === 'm.sticker') {
    const media = readMedia('m.sticker', content);
    return media && { text: `[sticker ${text(content['body']) ?? ''}]`, media: [media], isNotice: false };
  }
  return pollTypes.has(type) ? { text: readPoll(type, content), media: [], isNotice: false } : undefined;
};
