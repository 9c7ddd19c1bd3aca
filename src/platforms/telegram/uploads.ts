import { stat } from 'node:fs/promises';
import { PlatformError } from '../../core/errors.ts';
import type { OutboundMedia } from '../../core/message.ts';

/** What Telegram can show a file as. */
type Shape = 'photo' | 'video' | 'animation' | 'audio' | 'voice' | 'sticker' | 'document';

export interface Upload {
  readonly shape: Shape;
  readonly path: string;
  readonly name: string;
}

/** https://core.telegram.org/bots/api#sending-files */
export const maxUploadBytes = 50 * 1024 * 1024;
const maxPhotoBytes = 10 * 1024 * 1024;

/** Other formats are refused or shown as an empty player, so they go as documents. */
const shownAs: Readonly<Record<Exclude<Shape, 'document'>, RegExp>> = {
  photo: /^image\/(?:jpeg|png|webp|bmp)$/,
  animation: /^(?:image\/gif|video\/mp4)$/,
  video: /^video\/mp4$/,
  audio: /^audio\/(?:mpeg|mp3|mp4|m4a|x-m4a|aac)$/,
  voice: /^audio\/(?:ogg|opus|mpeg|mp3|mp4|m4a|x-m4a)$/,
  sticker: /^(?:image\/webp|video\/webm|application\/x-tgsticker)$/,
};

const shapeOf = (media: Pick<OutboundMedia, 'kind' | 'mime'>, sizeBytes: number): Shape => {
  if (media.kind === 'document') return 'document';
  const mime = media.mime.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  if (media.kind === 'photo' && mime === 'image/gif') return 'animation';
  if (media.kind === 'photo' && sizeBytes > maxPhotoBytes) return 'document';
  return shownAs[media.kind].test(mime) ? media.kind : 'document';
};

/** The name stands in a header. */
const headerSafe = (name: string): string => name.toWellFormed().replace(/[\r\n";\\/]/g, '_') || 'file';

/** Looks at the files before anything is sent, so that a bad one refuses the whole message. */
export const prepareUploads = (media: readonly OutboundMedia[]): Promise<readonly Upload[]> =>
  Promise.all(
    media.map(async (item) => {
      const file = await stat(item.path).catch((cause: unknown) => {
        throw new PlatformError('not_found', `${item.name}: the file cannot be read`, { missing: 'file', file: item.name, cause });
      });
      if (file.size > maxUploadBytes) throw new PlatformError('too_large', `${item.name}: ${file.size} bytes, and a bot may send ${maxUploadBytes}`, { file: item.name });
      if (file.size === 0) throw new PlatformError('not_found', `${item.name}: the file is empty, and Telegram takes none such`, { missing: 'file', file: item.name });
      return { shape: shapeOf(item, file.size), path: item.path, name: headerSafe(item.name) };
    }),
  );

/** Files that may share an album: photos with videos, documents and audio each among themselves. */
const albumClass = (shape: Shape): string | undefined => {
  if (shape === 'photo' || shape === 'video') return 'visual';
  return shape === 'document' || shape === 'audio' ? shape : undefined;
};

const maxAlbumItems = 10;

/** Neighbours that fit into one album stay together; the order is kept. */
export const intoAlbums = (uploads: readonly Upload[]): readonly (readonly Upload[])[] => {
  const groups: Upload[][] = [];
  for (const upload of uploads) {
    const last = groups.at(-1);
    const kind = albumClass(upload.shape);
    const joins = last !== undefined && last.length < maxAlbumItems && kind !== undefined && last.every(({ shape }) => albumClass(shape) === kind);
    if (joins) last.push(upload);
    else groups.push([upload]);
  }
  return groups;
};
