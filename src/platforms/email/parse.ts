import { createHash } from 'node:crypto';
import type { AccountName } from '../../core/ids.ts';
import type { InboundEvent, ReplyContext, Sender } from '../../core/message.ts';
import { domainOf } from './addresses.ts';
import { whyAutomated } from './automated.ts';
import { readBounce } from './bounce.ts';
import type { Bounce } from './bounce.ts';
import { mediaOf } from './files.ts';
import type { MailPlace } from './files.ts';
import type { Mail } from './mail.ts';
import { readOwnId, threadOf } from './message-ids.ts';
import { ownWords } from './quotes.ts';
import { proveSender } from './sender-proof.ts';

/** An event, a report about a message of ours, or the reason why there is neither. */
export type Parsed = { readonly event: InboundEvent } | { readonly bounce: Bounce } | { readonly skip: string };

/** What reading a mail depends on, prepared once per connection. */
export interface Reading {
  readonly account: AccountName;
  readonly own: readonly string[];
  readonly domain: string;
  readonly verifySenders: boolean;
  readonly authservIds: readonly string[];
  readonly conversations: 'thread' | 'person';
  readonly skipAttachments: boolean;
}

/** What the server knows about a mail, and what is left of it. */
export interface Arrived {
  readonly place: Omit<MailPlace, 'messageId'>;
  readonly receivedAtMs: number;
  readonly sizeBytes: number;
  /** Only its beginning was read. */
  readonly cut: boolean;
  /** Its words, from whichever part has them. */
  readonly words: string;
}

/** What was written before is then part of what is said now. */
export const isForward = (subject: string): boolean => /^(?:fwd?|wg|tr|rv|enc|i)\s*:/i.test(subject);
const isAnswer = (subject: string): boolean => /^(?:re|aw|antw|sv|vs|ref|rif|r)\s*(?:\[\d+\])?\s*:/i.test(subject);

/** A new subject is part of what is said; one that only repeats the thread's is not, and neither is one above a command. */
const withSubject = (words: string, subject: string): string => {
  if (words === '') return isAnswer(subject) ? '' : subject;
  return subject === '' || isAnswer(subject) || words.startsWith('/') ? words : `[Subject: ${subject}]\n\n${words}`;
};

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

const textOf = (mail: Mail, { words, cut, sizeBytes }: Arrived): string => {
  const said = withSubject(isForward(mail.subject) ? words.trim() : ownWords(words), mail.subject);
  return cut ? `${said}\n\n[This mail has ${megabytes(sizeBytes)}. Only its beginning was read, without its files.]`.trim() : said;
};

const senderOf = (reading: Reading, mail: Mail, isBot: boolean): Sender => {
  const [author, second] = mail.from;
  const id = author?.address ?? '';
  const proof = reading.verifySenders ? proveSender({ headers: mail.headers, from: id }, reading.authservIds) : undefined;
  const unverified = second !== undefined ? 'it names more than one author' : proof?.verified === false ? proof.why : undefined;
  return { id, ...(author !== undefined && author.name !== '' && { name: author.name }), isBot, ...(unverified !== undefined && { unverified }) };
};

const replyOf = (reading: Reading, mail: Mail): ReplyContext | undefined => {
  const messageId = mail.inReplyTo[0] ?? mail.references.at(-1);
  return messageId === undefined ? undefined : { messageId, isOwn: readOwnId(messageId, reading.domain) !== undefined };
};

/** Mail without an id of its own is known by what it holds. */
const nativeIdOf = (mail: Mail, { words, receivedAtMs }: Arrived): string =>
  mail.messageId ?? `sha256:${createHash('sha256').update(JSON.stringify([mail.from, mail.subject, mail.dateMs ?? receivedAtMs, words, mail.files.map(({ bytes }) => bytes.byteLength)])).digest('hex')}`;

const headerOf = (mail: Mail) => (name: string): string | undefined => mail.headers.find(({ key }) => key === name)?.value;

/** Turns a mail into an event. It is pure and never throws, whatever the mail holds. `isBot` is what its pace says about the sender. */
export const parseMail = (reading: Reading, mail: Mail, arrived: Arrived & { readonly isBot: boolean }): Parsed => {
  const bounce = readBounce(mail, reading.domain);
  if (bounce !== undefined) return { bounce };
  const from = mail.from[0]?.address;
  if (from === undefined) return { skip: 'it has no sender' };
  const automated = whyAutomated({ from, header: headerOf(mail) }, reading.own);
  if (automated !== undefined) return { skip: `automated mail: ${automated}` };
  const text = textOf(mail, arrived);
  const threadId = reading.conversations === 'thread' ? threadOf(mail, reading.domain) : undefined;
  const replyTo = replyOf(reading, mail);
  const topic = mail.subject.replace(/^(?:(?:re|aw|sv|fwd?|wg)\s*:\s*)+/i, '');
  const event: InboundEvent = {
    account: reading.account,
    kind: 'message',
    nativeId: nativeIdOf(mail, arrived),
    chat: { id: from, type: 'dm', ...(topic !== '' && { topic }), ...(threadId !== undefined && { threadId }) },
    sender: senderOf(reading, mail, arrived.isBot),
    text,
    media: reading.skipAttachments || arrived.cut ? [] : mediaOf(mail.files, { ...arrived.place, messageId: mail.messageId }),
    ...(mail.messageId !== undefined && { messageId: mail.messageId }),
    ...(replyTo !== undefined && { replyTo }),
    addressed: true,
    mentioned: false,
    sentAtMs: mail.dateMs !== undefined && mail.dateMs <= arrived.receivedAtMs ? mail.dateMs : arrived.receivedAtMs,
  };
  return { event };
};

/** What all mails of an account are read with. */
export const newReading = (account: AccountName, options: { readonly address: string; readonly aliases: readonly string[] } & Omit<Reading, 'account' | 'own' | 'domain'>): Reading => ({
  account,
  own: [options.address, ...options.aliases],
  domain: domainOf(options.address),
  verifySenders: options.verifySenders,
  authservIds: options.authservIds,
  conversations: options.conversations,
  skipAttachments: options.skipAttachments,
});
