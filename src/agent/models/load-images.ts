import { readFile, realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Attachment, TranscriptMessage } from '../../core/transcript.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Image, Images } from './wire.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Whether models take images of this type. */
export const isModelImage = (mime: string): boolean => imageTypes.has(mime);

/** What one request may carry; the newest images go first. */
export const imageLimits = { count: 10, eachBytes: 5 * 1024 * 1024, totalBytes: 15 * 1024 * 1024 } as const;

type Skipped = 'outside' | 'too_large' | 'unreadable';

const readInside = async (folder: string, path: string, maxBytes: number): Promise<Uint8Array | Skipped> => {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(resolve(folder, path))]);
    if (!file.startsWith(root + sep)) return 'outside';
    const { size } = await stat(file);
    return size > maxBytes ? 'too_large' : await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'unreadable';
    throw error;
  }
};

/**
 * The images in a transcript, read from the media folder and from nowhere else. An image that is missing or over
 * the limits is left out, with its reason in the log.
 */
export const loadImages = async (
  rows: readonly TranscriptMessage[],
  options: { readonly mediaFolder: string | undefined; readonly log: Logger },
): Promise<Images> => {
  const images = new Map<Attachment, Image>();
  if (options.mediaFolder === undefined) return images;
  const newestFirst = rows.toReversed().flatMap((row) => (row.attachments ?? []).filter(({ mime }) => imageTypes.has(mime)));
  let leftBytes = imageLimits.totalBytes;
  for (const attachment of newestFirst.slice(0, imageLimits.count)) {
    const bytes = await readInside(options.mediaFolder, attachment.path, Math.min(imageLimits.eachBytes, leftBytes));
    if (typeof bytes === 'string') {
      options.log.info({ file: attachment.path, reason: bytes }, 'model.image_skipped');
      continue;
    }
    leftBytes -= bytes.byteLength;
    images.set(attachment, { mime: attachment.mime, base64: Buffer.from(bytes).toString('base64') });
  }
  return images;
};
