import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PlatformError } from '../../core/errors.ts';
import type { MediaKind, OutboundMedia } from '../../core/message.ts';
import type { MatrixApi } from './api.ts';
import { encryptFile } from './encrypted-file.ts';
import type { Json } from './wire.ts';

/** A file that may be sent. */
export interface Upload extends OutboundMedia {
  readonly sizeBytes: number;
}

const messageTypes: Readonly<Record<MediaKind, string>> = {
  photo: 'm.image',
  animation: 'm.image',
  sticker: 'm.image',
  video: 'm.video',
  audio: 'm.audio',
  voice: 'm.audio',
  document: 'm.file',
};

const fits: Readonly<Record<string, RegExp>> = { 'm.image': /^image\//, 'm.video': /^video\//, 'm.audio': /^audio\// };

/** A file of another kind than it is said to be is shown broken, so it goes as a document. */
const messageTypeOf = ({ kind, mime }: OutboundMedia): string => {
  const type = messageTypes[kind];
  return fits[type]?.test(mime.toLowerCase()) === false ? 'm.file' : type;
};

/** Looks at the files before anything is sent, so that a bad one refuses the whole message. */
export const prepareUploads = (media: readonly OutboundMedia[], maxBytes: number): Promise<readonly Upload[]> =>
  Promise.all(
    media.map(async (item) => {
      const file = await stat(item.path).catch((cause: unknown) => {
        throw new PlatformError('not_found', `${item.name}: the file cannot be read`, { missing: 'file', file: item.name, cause });
      });
      if (file.size > maxBytes) throw new PlatformError('too_large', `${item.name}: ${file.size} bytes, and max_media_bytes is ${maxBytes}`, { file: item.name });
      return { ...item, sizeBytes: file.size };
    }),
  );

/** Uploads the file and answers what a message has to say to show it. For an encrypted room the homeserver gets only what it cannot read. */
export const uploadFile = async (api: Pick<MatrixApi, 'upload'>, upload: Upload, encrypted: boolean, signal: AbortSignal): Promise<Json> => {
  const blob = await openAsBlob(upload.path, { type: upload.mime }).catch((cause: unknown) => {
    throw new PlatformError('rejected', `${upload.name}: the file could not be read`, { cause });
  });
  const type = messageTypeOf(upload);
  const facts = {
    msgtype: type,
    body: upload.name,
    filename: upload.name,
    info: { mimetype: upload.mime, size: upload.sizeBytes },
    ...(upload.kind === 'voice' && type === 'm.audio' && { 'org.matrix.msc3245.voice': {}, 'org.matrix.msc1767.audio': {} }),
  };
  if (!encrypted) return { ...facts, url: await api.upload({ body: blob, mime: upload.mime, name: upload.name }, signal) };
  const { bytes, file } = encryptFile(Buffer.from(await blob.arrayBuffer()));
  // Neither its name nor its kind is the homeserver's business.
  const url = await api.upload({ body: new Blob([bytes]), mime: 'application/octet-stream' }, signal);
  return { ...facts, file: { ...file, url } };
};
