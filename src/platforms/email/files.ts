import type { MediaKind, MediaRef } from '../../core/message.ts';
import type { MailFile } from './mail.ts';

/** Where a mail lies. */
export interface MailPlace {
  readonly folder: string;
  readonly uidValidity: string;
  readonly uid: number;
  readonly messageId?: string | undefined;
}

/** What phones record when somebody speaks a note; music comes in other containers. */
const recordings = /^audio\/(?:ogg|opus|amr|amr-wb|x-caf|3gpp)\b/;
const spokenName = /voice|memo|recording|aufnahme|sprach|audio[-_ ]?\d/i;

const kindOf = ({ mime, name = '' }: MailFile): MediaKind => {
  if (mime.startsWith('audio/')) return recordings.test(mime) || spokenName.test(name) ? 'voice' : 'audio';
  if (mime === 'image/gif') return 'animation';
  if (/^image\/(?:png|jpe?g|webp|heic|heif|bmp|tiff)$/.test(mime)) return 'photo';
  return mime.startsWith('video/') ? 'video' : 'document';
};

/** Signatures prove something to clients and tell people nothing; so do the pixels that count who has read a mail. */
const isWorthShowing = ({ mime, inline, bytes }: MailFile): boolean => !/^application\/(?:x-)?(?:pgp-signature|pkcs7-signature)$/.test(mime) && !(inline && bytes.byteLength < 1024);

const nameless = (mime: string, index: number): string => (mime === 'message/rfc822' ? `message-${index + 1}.eml` : `file-${index + 1}`);

/** The files of a mail, each by its number in it. */
export const mediaOf = (files: readonly MailFile[], place: MailPlace): readonly MediaRef[] =>
  files.flatMap((file, index) =>
    isWorthShowing(file)
      ? [
          {
            kind: kindOf(file),
            mime: file.mime,
            name: file.name ?? nameless(file.mime, index),
            sizeBytes: file.bytes.byteLength,
            ref: { folder: place.folder, uid_validity: place.uidValidity, uid: place.uid, file: index, ...(place.messageId !== undefined && { message_id: place.messageId }) },
          },
        ]
      : [],
  );
