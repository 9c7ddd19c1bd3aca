import { readFile, realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Attachment, TranscriptMessage } from '../../../core/transcript.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Image, Images } from '../wires/wire.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Whether models take images of this type. */
export const isModelImage = (mime: string): boolean => imageTypes.has(mime);

/** What one request may carry; the newest images go first. */
export const imageLimits = { count: 10, eachBytes: 5 * 1024 * 1024, totalBytes: 15 * 1024 * 1024 } as const;

/** The images that a model is shown or told about, newest first. */
export const newestImages = (rows: readonly TranscriptMessage[]): readonly Attachment[] =>
  rows
    .toReversed()
    .flatMap((row) => (row.attachments ?? []).filter(({ mime }) => isModelImage(mime)))
    .slice(0, imageLimits.count);

type Skipped = 'outside' | 'too_large' | 'unreadable' | 'no_image';

const has = (bytes: Uint8Array, at: number, text: string): boolean => [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));

/** Servers refuse a whole conversation for one image that is not what it is called, so its bytes decide. */
const typeOf = (bytes: Uint8Array): string | undefined => {
  if (has(bytes, 0, '\u0089PNG')) return 'image/png';
  if (has(bytes, 0, '\u00FF\u00D8\u00FF')) return 'image/jpeg';
  if (has(bytes, 0, 'GIF8')) return 'image/gif';
  return has(bytes, 0, 'RIFF') && has(bytes, 8, 'WEBP') ? 'image/webp' : undefined;
};

/** An image in the media folder, and from nowhere else; why not, when it cannot be had. */
export const readImage = async (folder: string, path: string, maxBytes: number = imageLimits.eachBytes): Promise<(Image & { readonly sizeBytes: number }) | Skipped> => {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(resolve(folder, path))]);
    if (!file.startsWith(root + sep)) return 'outside';
    const { size } = await stat(file);
    if (size > maxBytes) return 'too_large';
    const bytes = await readFile(file);
    const mime = typeOf(bytes);
    return mime === undefined ? 'no_image' : { mime, base64: bytes.toString('base64'), sizeBytes: bytes.byteLength };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'unreadable';
    throw error;
  }
};

/**
 * The images in a transcript, read from the media folder and from nowhere else. An image that is missing, broken or over
 * the limits is left out, with its reason in the log.
 */
export const loadImages = async (
  rows: readonly TranscriptMessage[],
  options: { readonly mediaFolder: string | undefined; readonly log: Logger },
): Promise<Images> => {
  const images = new Map<Attachment, Image>();
  if (options.mediaFolder === undefined) return images;
  let leftBytes = imageLimits.totalBytes;
  for (const attachment of newestImages(rows)) {
    const image = await readImage(options.mediaFolder, attachment.path, Math.min(imageLimits.eachBytes, leftBytes));
    if (typeof image === 'string') {
      options.log.info({ file: attachment.path, reason: image }, 'model.image_skipped');
      continue;
    }
    leftBytes -= image.sizeBytes;
    images.set(attachment, { mime: image.mime, base64: image.base64 });
  }
  return images;
};
