import type * as PostalMime from 'postal-mime';
import type { Attachment, Email, Header as PostalHeader } from 'postal-mime';
import { canonicalAddress } from './addresses.ts';
import { readIds } from './message-ids.ts';
import type { Lineage } from './message-ids.ts';
import type { Header } from './sender-proof.ts';

export interface MailFile {
  readonly name?: string;
  readonly mime: string;
  /** Shown within the text instead of beside it. */
  readonly inline: boolean;
  readonly bytes: Uint8Array;
}

/** A mail as we read it: decoded, with nothing decided. */
export interface Mail extends Lineage {
  /** Topmost first. */
  readonly headers: readonly Header[];
  /** Every address that the From headers name. */
  readonly from: readonly { readonly address: string; readonly name: string }[];
  readonly subject: string;
  readonly dateMs?: number;
  readonly text: string;
  readonly html: string;
  readonly files: readonly MailFile[];
}

/** What of the MIME library is needed; it is loaded when an account is opened. */
export type MimeLibrary = Pick<typeof PostalMime, 'addressParser' | 'decodeWords' | 'default'>;

/** Bytes of an unknown charset are more often UTF-8 than anything else. */
export const decodeHeader = (mime: MimeLibrary, value: string): string => mime.decodeWords(value.replace(/=\?(?:unknown-8bit|x-unknown)\?/gi, '=?utf-8?')).toWellFormed();

/** The mailboxes of an address header; groups are opened. */
export const readAddresses = (mime: MimeLibrary, value: string): Mail['from'] =>
  mime
    .addressParser(value, { flatten: true })
    .map(({ address, name }) => ({ address: canonicalAddress(address ?? ''), name: decodeHeader(mime, name).trim() }))
    .filter(({ address }) => address.includes('@'));

const valuesOf = (headers: readonly PostalHeader[], key: string): readonly string[] => headers.filter((header) => header.key === key).map(({ value }) => value);

const bytesOf = (content: Attachment['content']): Uint8Array => (typeof content === 'string' ? Buffer.from(content) : content instanceof Uint8Array ? content : new Uint8Array(content));

const fileOf = ({ filename, mimeType, disposition, related, content }: Attachment): MailFile => {
  const name = filename?.toWellFormed().trim();
  return { ...(name !== undefined && name !== '' && { name }), mime: mimeType.toLowerCase(), inline: disposition !== 'attachment' && related === true, bytes: bytesOf(content) };
};

const toMail = (mime: MimeLibrary, email: Email): Mail => {
  const first = (key: string): string | undefined => valuesOf(email.headers, key)[0];
  const dateMs = Date.parse(first('date') ?? '');
  const messageId = readIds(first('message-id'))[0];
  return {
    headers: email.headers.map(({ key, value }) => ({ key, value })),
    from: valuesOf(email.headers, 'from').flatMap((value) => readAddresses(mime, value)),
    subject: decodeHeader(mime, first('subject') ?? '').replaceAll(/\s+/g, ' ').trim(),
    ...(messageId !== undefined && { messageId }),
    inReplyTo: readIds(first('in-reply-to')),
    references: readIds(first('references')),
    ...(!Number.isNaN(dateMs) && { dateMs }),
    text: (email.text ?? '').toWellFormed(),
    html: (email.html ?? '').toWellFormed(),
    files: email.attachments.map(fileOf),
  };
};

/** Reads any bytes as a mail, as far as they are one. Rejects only for nesting that no honest mail has. */
export const readMail = async (mime: MimeLibrary, raw: Uint8Array): Promise<Mail> => toMail(mime, await mime.default.parse(raw, { forceRfc822Attachments: true, attachmentEncoding: 'arraybuffer' }));
