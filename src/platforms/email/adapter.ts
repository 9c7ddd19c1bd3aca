import { PlatformError } from '../../core/errors.ts';
import type { OutboundMessage, SendReceipt } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AccountData, Adapter, AdapterContext, Identity } from '../contract.ts';
import { newAccessTokens } from './access-tokens.ts';
import { composeMail } from './compose.ts';
import type { Composing } from './compose.ts';
import { dialImap } from './imap.ts';
import type { Folder, ImapLink } from './imap.ts';
import { passwordLogins, tokenLogins } from './login.ts';
import type { Logins } from './login.ts';
import { newMedia } from './media.ts';
import { keepsCopies, serversOf } from './options.ts';
import type { EmailOptions } from './options.ts';
import { newPace } from './pace.ts';
import { newReading } from './parse.ts';
import { receiveFolder } from './receive.ts';
import { newSentCopies } from './sent-copies.ts';
import type { SentCopies } from './sent-copies.ts';
import { newSmtp } from './smtp.ts';
import type { Smtp } from './smtp.ts';
import { newThreadRecords, newThreads } from './threads.ts';
import type { ThreadRecords } from './threads.ts';
import { tlsOptions } from './tls.ts';

/** Everything that e-mail alone needs is loaded here and not before. */
const loadLibraries = async () => {
  const [{ ImapFlow }, { default: SmtpConnection }, { default: XOAuth2 }, { default: MailComposer }, mime] = await Promise.all([
    import('imapflow'),
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/xoauth2'),
    import('nodemailer/lib/mail-composer'),
    import('postal-mime'),
  ]);
  return { ImapFlow, SmtpConnection, XOAuth2, MailComposer, mime };
};

const loginsOf = ({ oauth, provider, password, username, address }: EmailOptions, data: AccountData): Logins => {
  const user = username ?? address;
  return oauth === undefined ? passwordLogins(user, password ?? '') : tokenLogins(user, newAccessTokens({ oauth, provider, data, clock: systemClock }));
};

interface Sending {
  readonly composing: Composing;
  readonly smtp: Smtp;
  readonly records: ThreadRecords;
  readonly copies: SentCopies | undefined;
  readonly log: Logger;
}

/** Whoever answers finds the thread by what our mail says; the record is for our own next mail in it, so its loss is no failure. */
const send = async ({ composing, smtp, records, copies, log }: Sending, message: OutboundMessage, signal: AbortSignal): Promise<SendReceipt> => {
  const { target } = message;
  const record = await records.find(target).catch((cause: unknown) => {
    throw new PlatformError('unavailable', 'what is known of the thread could not be read', { cause });
  });
  const { messageId, subject, references, raw } = await composeMail(composing, message, record);
  await smtp.submit({ from: composing.from.address, to: target.chatId, raw }, signal);
  if (message.secret !== true) copies?.save({ messageId, raw });
  const isInThread = target.threadId !== undefined || target.replyTo !== undefined;
  if (isInThread) await records.keep(target, { subject: record?.subject ?? subject, ids: [...(record?.ids ?? references), messageId] }).catch((error: unknown) => log.warn({ err: error }, 'email.thread_not_kept'));
  return { messageIds: [messageId] };
};

/** Asks both servers, and looks where the folders end: whatever comes from now on is new. */
const identify = async (dial: (signal: AbortSignal) => Promise<ImapLink>, account: { options: EmailOptions; smtp: Smtp }, signal: AbortSignal): Promise<{ identity: Identity; ends: ReadonlyMap<string, Folder> }> => {
  const { options, smtp } = account;
  using link = await dial(signal);
  const ends = new Map<string, Folder>();
  for (const folder of options.folders) ends.set(folder, await link.status(folder));
  await smtp.verify(signal);
  return { identity: { id: options.address, name: options.from_name, handle: options.address }, ends };
};

export const open = async ({ account, options, log, data }: AdapterContext<EmailOptions>): Promise<Adapter> => {
  const { ImapFlow, SmtpConnection, XOAuth2, MailComposer, mime } = await loadLibraries();
  const clock = systemClock;
  const servers = serversOf(options);
  const tls = await tlsOptions(options.tls_ca_file);
  const logins = loginsOf(options, data);
  const dial = (signal: AbortSignal): Promise<ImapLink> => logins.use((login) => dialImap({ ImapFlow, options, server: servers.imap, login, tls, clock }, signal), signal);
  const smtp = newSmtp({ SmtpConnection, XOAuth2, logins, options, server: servers.smtp, tls });
  const copies = keepsCopies(options) ? newSentCopies({ dial, log }) : undefined;
  const records = newThreadRecords(data, () => clock.now());
  const reading = newReading(account, { ...options, verifySenders: options.verify_senders, authservIds: servers.authservIds, skipAttachments: options.skip_attachments });
  const maxMessageBytes = options.max_message_mb * 1_000_000;
  const composing = { MailComposer, from: { name: options.from_name, address: options.address } };
  let baselines: ReadonlyMap<string, Folder> = new Map();
  return {
    async identify(signal) {
      const { identity, ends } = await identify(dial, { options, smtp }, signal);
      baselines = ends;
      return identity;
    },
    async run(inbox, _identity, signal) {
      await records.prune();
      const common = { mime, reading, inbox, records, data, pace: newPace(), log, clock, maxMessageBytes, markSeen: options.mark_seen, dial, pollMs: options.poll_interval_seconds * 1000, checkMs: options.idle_check_seconds * 1000 };
      const stop = new AbortController();
      const ended = AbortSignal.any([signal, stop.signal]);
      const folders = options.folders.map((folder) => receiveFolder({ ...common, folder, baseline: baselines.get(folder) }, ended));
      try {
        await Promise.all(folders);
      } finally {
        stop.abort();
        await Promise.allSettled(folders);
      }
    },
    send: (message, signal) => send({ composing, smtp, records, copies, log }, message, signal),
    media: newMedia({ mime, maxDownloadBytes: maxMessageBytes, dial }),
    threads: newThreads(records),
  };
};
