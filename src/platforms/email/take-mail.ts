import { PlatformError } from '../../core/errors.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AccountData, Accepted, Inbox } from '../contract.ts';
import { bounceReason } from './bounce.ts';
import type { Bounce } from './bounce.ts';
import { htmlToText } from './html-text.ts';
import type { ImapLink } from './imap.ts';
import { readMail } from './mail.ts';
import type { Mail, MimeLibrary } from './mail.ts';
import type { Pace } from './pace.ts';
import { isForward, parseMail } from './parse.ts';
import type { Arrived, Parsed, Reading } from './parse.ts';
import type { ThreadRecords } from './threads.ts';

export interface Receiving {
  readonly mime: MimeLibrary;
  readonly reading: Reading;
  readonly inbox: Inbox;
  readonly records: ThreadRecords;
  readonly data: AccountData;
  readonly pace: Pace;
  readonly log: Logger;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly markSeen: boolean;
}

/** Where a mail is to be fetched. */
export interface Slot {
  readonly folder: string;
  readonly uidValidity: string;
  readonly uid: number;
}

/** Enough for the words of a mail whose files are too large. */
const beginningBytes = 256 * 1024;

/** A server may refuse one mail for ever; everything behind it must not wait for that. */
const mostRefusals = 3;

const recordedMs = 1_000;

/** Rejects with the refusal, so that the mail is tried again on a new connection, until that was done often enough. */
const unlessRefusedOften = async ({ data, log }: Receiving, slot: Slot, error: unknown): Promise<undefined> => {
  if (!(error instanceof PlatformError) || error.code !== 'rejected') throw error;
  const name = `refused:${slot.folder}:${slot.uidValidity}:${slot.uid}`;
  const times = Number((await data.get(name)) ?? 0) + 1;
  if (times < mostRefusals) {
    await data.set(name, String(times));
    throw error;
  }
  await data.remove(name);
  log.error({ ...slot, err: error }, 'email.given_up');
  return undefined;
};

const fetchMail = async ({ maxMessageBytes, clock }: Receiving, link: ImapLink, { folder, uidValidity, uid }: Slot) => {
  const facts = await link.fetch(uid, { uid: true, size: true, internalDate: true, flags: true });
  if (facts === undefined || facts.flags?.has('\\Deleted') === true) return undefined;
  const sizeBytes = facts.size ?? 0;
  const cut = sizeBytes > maxMessageBytes;
  const body = await link.fetch(uid, { uid: true, source: cut ? { start: 0, maxLength: beginningBytes } : true });
  if (body?.source === undefined) return undefined;
  const receivedAtMs = new Date(facts.internalDate ?? clock.now()).getTime();
  return { source: body.source, arrived: { place: { folder, uidValidity, uid }, receivedAtMs, sizeBytes, cut } };
};

const wordsOf = async ({ clock }: Receiving, mail: Mail, signal: AbortSignal): Promise<string> =>
  mail.text.trim() !== '' || mail.html === '' ? mail.text : htmlToText(mail.html, { whole: isForward(mail.subject), clock }, signal);

const isKept = (accepted: Accepted): boolean => accepted === 'stored' || accepted === 'duplicate';

/** Hands an event over, with what an answer to it will need. */
const handOver = async ({ inbox, records }: Receiving, parsed: Extract<Parsed, { event: unknown }>, mail: Mail): Promise<Accepted> => {
  const { event } = parsed;
  if (event.sender.unverified !== undefined) return inbox.accept(event);
  const references = [...mail.references, ...mail.inReplyTo];
  const forget = await records.note(event, { subject: mail.subject, references });
  const accepted = await inbox.accept(event);
  if (accepted !== 'stored') await forget();
  return accepted;
};

/** A mail that is only late may still arrive. Nobody is answered: that could go on for ever. */
const tellBounce = async ({ inbox, log, clock }: Receiving, bounce: Bounce, { facts, signal }: { readonly facts: object; readonly signal: AbortSignal }): Promise<void> => {
  if (bounce.action !== 'failed') return log.info({ ...facts, bounce }, 'email.delivery_report');
  const tell = (): Promise<boolean> => inbox.returned(bounce.messageId, bounceReason(bounce));
  // A server nearby may give a mail back before it is written down that it was sent.
  const known = (await tell()) || ((await slept(clock, recordedMs, signal)) && (await tell()));
  log.warn({ ...facts, bounce, known }, 'email.bounced');
  return undefined;
};

const read = async (receiving: Receiving, source: Uint8Array, arrived: Omit<Arrived, 'words'>, signal: AbortSignal): Promise<{ readonly mail: Mail; readonly parsed: Parsed } | undefined> => {
  const { mime, reading, pace, log } = receiving;
  let mail: Mail;
  try {
    mail = await readMail(mime, source);
  } catch (error) {
    log.warn({ ...arrived.place, err: error }, 'email.unreadable');
    return undefined;
  }
  const from = mail.from[0]?.address;
  const isBot = from !== undefined && pace.isTooFast(from, arrived.receivedAtMs);
  return { mail, parsed: parseMail(reading, mail, { ...arrived, words: await wordsOf(receiving, mail, signal), isBot }) };
};

/** Stores one mail. Resolves also when it was left out on purpose; rejects when it must be fetched again. `wanted` may still say no. */
export const takeMail = async (receiving: Receiving, link: ImapLink, slot: Slot, { wanted, signal }: { readonly wanted: (mail: Mail) => boolean; readonly signal: AbortSignal }): Promise<void> => {
  const { log, markSeen } = receiving;
  const fetched = await fetchMail(receiving, link, slot).catch((error: unknown) => unlessRefusedOften(receiving, slot, error));
  if (fetched === undefined) return log.info({ ...slot, reason: 'it is not there any more' }, 'email.skipped');
  const found = await read(receiving, fetched.source, fetched.arrived, signal);
  if (found === undefined) return undefined;
  const { mail, parsed } = found;
  const facts = { ...slot, message_id: mail.messageId };
  if (!wanted(mail)) log.info({ ...facts, reason: 'old mail in a folder that was numbered anew' }, 'email.skipped');
  else if ('skip' in parsed) log.info({ ...facts, reason: parsed.skip }, 'email.skipped');
  else if ('bounce' in parsed) await tellBounce(receiving, parsed.bounce, { facts, signal });
  else if (isKept(await handOver(receiving, parsed, mail)) && markSeen) await link.markSeen(slot.uid);
  return undefined;
};
