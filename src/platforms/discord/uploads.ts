import { readFile, stat } from 'node:fs/promises';
import { PlatformError } from '../../core/errors.ts';
import type { OutboundMedia } from '../../core/message.ts';
import type { FilePart } from './multipart.ts';
import { readOggOpus } from './ogg-opus.ts';
import type { Recording } from './ogg-opus.ts';

export interface Upload extends FilePart {
  /** Present for what people hear as a voice message. */
  readonly recording?: Recording;
}

/** Recordings are read whole to measure them; longer ones go as files. */
const longestRecordingBytes = 8 * 1024 * 1024;

const unreadable =
  (name: string) =>
  (cause: unknown): never => {
    throw new PlatformError('not_found', `${name}: the file cannot be read`, { missing: 'file', file: name, cause });
  };

/** Quotes, slashes and line breaks have no place in the name of a file. */
const safeName = (name: string): string => name.toWellFormed().replace(/[\p{Cc}"\\/]/gu, '_') || 'file';

const recordingOf = async ({ kind, path, name }: OutboundMedia, sizeBytes: number): Promise<Recording | undefined> =>
  kind === 'voice' && sizeBytes <= longestRecordingBytes ? readOggOpus(await readFile(path).catch(unreadable(name))) : undefined;

/** Looks at the files before anything is sent, so that a bad one refuses the whole message. */
export const prepareUploads = (media: readonly OutboundMedia[], maxUploadBytes: number): Promise<readonly Upload[]> =>
  Promise.all(
    media.map(async (item) => {
      const { size: sizeBytes } = await stat(item.path).catch(unreadable(item.name));
      if (sizeBytes > maxUploadBytes) throw new PlatformError('too_large', `${item.name}: ${sizeBytes} bytes, and the bot may send ${maxUploadBytes} (max_upload_mb)`, { file: item.name });
      const recording = await recordingOf(item, sizeBytes);
      return { path: item.path, name: recording === undefined ? safeName(item.name) : 'voice-message.ogg', mime: /^[\w.+-]+\/[\w.+-]+$/.test(item.mime) ? item.mime : 'application/octet-stream', sizeBytes, ...(recording !== undefined && { recording }) };
    }),
  );
