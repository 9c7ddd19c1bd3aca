import { PlatformError } from '../../core/errors.ts';
import type { MediaRef } from '../../core/message.ts';
import type { Media } from '../contract.ts';
import { maxUploadBytes } from './compose.ts';
import type { ImapLink } from './imap.ts';
import { readMail } from './mail.ts';
import type { MimeLibrary } from './mail.ts';

const gone = (): PlatformError => new PlatformError('not_found', 'the mail of the file is gone', { missing: 'file' });

/** A folder that was numbered anew may still have the mail. */
const findUid = async (link: ImapLink, ref: MediaRef['ref']): Promise<number> => {
  const opened = await link.open(String(ref['folder']));
  if (opened.uidValidity === String(ref['uid_validity'])) return Number(ref['uid']);
  const id = ref['message_id'];
  const found = id === undefined ? [] : await link.search({ header: { 'message-id': String(id) } });
  return found[0] ?? Number.NaN;
};

export interface MediaParts {
  readonly mime: MimeLibrary;
  readonly maxDownloadBytes: number;
  dial(signal: AbortSignal): Promise<ImapLink>;
}

/** Files stay in the mailbox until somebody asks for them. */
export const newMedia = ({ mime, maxDownloadBytes, dial }: MediaParts): Media => ({
  maxDownloadBytes,
  maxUploadBytes,
  async open({ ref }, signal) {
    using link = await dial(signal);
    const uid = await findUid(link, ref);
    const mail = Number.isNaN(uid) ? undefined : await link.fetch(uid, { uid: true, source: true });
    if (mail?.source === undefined) throw gone();
    const file = (await readMail(mime, mail.source)).files[Number(ref['file'])];
    if (file === undefined) throw gone();
    return new Blob([new Uint8Array(file.bytes)]).stream();
  },
});
