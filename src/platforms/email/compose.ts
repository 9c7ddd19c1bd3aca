import { stat } from 'node:fs/promises';
import type MailComposerClass from 'nodemailer/lib/mail-composer';
import { PlatformError } from '../../core/errors.ts';
import type { OutboundMedia, OutboundMessage } from '../../core/message.ts';
import { addressShape, domainOf } from './addresses.ts';
import { ownHeader } from './automated.ts';
import { answerSubject, formatHtml, formatText, subjectFor } from './format.ts';
import { isThreadId, ownMessageId } from './message-ids.ts';
import { boundedIds } from './threads.ts';
import type { ThreadRecord } from './threads.ts';

/** Most servers take 25 MB, and files grow by a third on their way. */
export const maxUploadBytes = 18 * 1024 * 1024;

export interface Composing {
  readonly MailComposer: typeof MailComposerClass;
  readonly from: { readonly name: string; readonly address: string };
}

export interface Composed {
  readonly messageId: string;
  readonly subject: string;
  readonly references: readonly string[];
  readonly raw: Buffer;
}

/** Looks at the files before anything is sent, so that a bad one refuses the whole message. */
const checkFiles = async (media: readonly OutboundMedia[]): Promise<void> => {
  let total = 0;
  for (const { path, name } of media) {
    const file = await stat(path).catch((cause: unknown) => {
      throw new PlatformError('not_found', `${name}: the file cannot be read`, { missing: 'file', file: name, cause });
    });
    total += file.size;
    if (total > maxUploadBytes) throw new PlatformError('too_large', `${name}: a mail may carry ${maxUploadBytes} bytes`, { file: name });
  }
};

const attachmentOf = ({ kind, path, mime, name }: OutboundMedia) => ({
  path,
  filename: name.toWellFormed().replaceAll(/[\r\n\0/\\]/g, '_'),
  contentType: mime,
  contentDisposition: kind === 'photo' || kind === 'animation' ? ('inline' as const) : ('attachment' as const),
});

interface Thread {
  readonly subject: string;
  readonly inReplyTo?: string;
  readonly references: readonly string[];
}

/** An answer continues its thread; anything else in a thread follows its last message; what has no thread begins one. */
const threadFor = ({ target, text }: OutboundMessage, record: ThreadRecord | undefined): Thread => {
  const { replyTo, threadId } = target;
  if (replyTo === undefined && (threadId === undefined || record === undefined)) return { subject: subjectFor(text), references: [] };
  const ids = record?.ids ?? [];
  const inReplyTo = replyTo ?? ids.at(-1);
  if (inReplyTo === undefined) return { subject: record?.subject ?? subjectFor(text), references: [] };
  const at = ids.indexOf(inReplyTo);
  return { subject: answerSubject(record?.subject ?? ''), inReplyTo, references: boundedIds([...(at === -1 ? ids : ids.slice(0, at)), inReplyTo]) };
};

const headersOf = (isAnswer: boolean): Readonly<Record<string, string>> => ({
  'Auto-Submitted': isAnswer ? 'auto-replied' : 'auto-generated',
  'X-Auto-Response-Suppress': 'All',
  [ownHeader]: '1',
});

/** Writes a message as a mail. The same message again has the same Message-ID. */
export const composeMail = async ({ MailComposer, from }: Composing, message: OutboundMessage, record: ThreadRecord | undefined): Promise<Composed> => {
  const { target, media = [] } = message;
  if (!addressShape.test(target.chatId)) throw new PlatformError('chat_gone', `${target.chatId} is not an address`);
  if (target.threadId !== undefined && !isThreadId(target.threadId)) throw new PlatformError('not_found', 'that is not a thread', { missing: 'thread' });
  if (message.text.trim() === '' && media.length === 0) throw new PlatformError('rejected', 'there is nothing to send');
  await checkFiles(media);
  const { subject, inReplyTo, references } = threadFor(message, record);
  const messageId = ownMessageId({ key: message.key, to: target.chatId, threadId: target.threadId }, domainOf(from.address));
  const mail = new MailComposer({
    from,
    to: target.chatId,
    subject,
    messageId: `<${messageId}>`,
    ...(inReplyTo !== undefined && { inReplyTo: `<${inReplyTo}>`, references: references.map((id) => `<${id}>`).join(' ') }),
    headers: headersOf(inReplyTo !== undefined),
    text: message.plain === true ? message.text.toWellFormed() : formatText(message.text),
    ...(message.plain !== true && message.text.trim() !== '' && { html: formatHtml(message.text) }),
    attachments: media.map(attachmentOf),
    textEncoding: 'quoted-printable',
    disableUrlAccess: true,
  });
  try {
    return { messageId, subject, references, raw: await mail.compile().build() };
  } catch (cause) {
    throw new PlatformError('rejected', 'the mail could not be written', { cause });
  }
};
