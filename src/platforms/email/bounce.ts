import type { Mail } from './mail.ts';
import { readIds, readOwnId } from './message-ids.ts';

/** A mail server's report that a message of ours did not arrive. */
export interface Bounce {
  readonly messageId: string;
  readonly recipient?: string;
  readonly action: string;
  /** Such as 5.1.1. */
  readonly status?: string;
  readonly diagnostic?: string;
}

const field = (text: string, name: string): string | undefined => new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t]+.*)*)`, 'im').exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim();

const withoutType = (value: string | undefined): string | undefined => value?.replace(/^[\w-]+\s*;\s*/, '');

/** Reads a delivery status notification (RFC 3464) about one of our messages; undefined for every other mail. */
export const readBounce = (mail: Pick<Mail, 'files' | 'inReplyTo' | 'references'>, domain: string): Bounce | undefined => {
  const textOf = (mime: RegExp): string => mail.files.filter((file) => mime.test(file.mime)).map(({ bytes }) => Buffer.from(bytes).toString('utf8')).join('\n');
  const report = textOf(/^message\/(?:global-)?delivery-status$/);
  if (report === '') return undefined;
  const original = textOf(/^(?:message\/rfc822|text\/rfc822-headers|message\/global(?:-headers)?)$/);
  const ids = [...readIds(field(original, 'message-id')), ...mail.inReplyTo, ...mail.references];
  const messageId = ids.find((id) => readOwnId(id, domain) !== undefined);
  if (messageId === undefined) return undefined;
  const recipient = withoutType(field(report, 'final-recipient') ?? field(report, 'original-recipient'));
  const status = field(report, 'status');
  const diagnostic = withoutType(field(report, 'diagnostic-code'));
  return {
    messageId,
    action: field(report, 'action')?.toLowerCase() ?? 'failed',
    ...(recipient !== undefined && { recipient }),
    ...(status !== undefined && { status }),
    ...(diagnostic !== undefined && { diagnostic }),
  };
};

/** The report in one line, for people. */
export const bounceReason = ({ recipient, status, diagnostic }: Bounce): string =>
  ['the mail came back', ...(recipient === undefined ? [] : [`from ${recipient}`]), ...(status === undefined && diagnostic === undefined ? [] : [`(${[status, diagnostic].filter((part) => part !== undefined).join(' ')})`])]
    .join(' ')
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, 300)
    .toWellFormed();
