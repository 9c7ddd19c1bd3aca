import { systemClock } from '../../lib/clock.ts';
import type { PlatformSimulator, SimulatedMessage, VisibleMessage } from '../simulator.ts';
import mails from './fixtures/mails.json' with { type: 'json' };
import { newFaults } from '../simulator-faults.ts';
import { startImap } from './simulator/imap-server.ts';
import type { ImapWorld } from './simulator/imap-client.ts';
import { newMailboxes } from './simulator/mailboxes.ts';
import { authservId, deliveredBy, writeBounce, writeMail } from './simulator/people.ts';
import { showMail } from './simulator/shown.ts';
import { startSmtp } from './simulator/smtp-server.ts';
import type { SmtpRefusal, SmtpWorld } from './simulator/smtp-server.ts';
import { startTokenServer } from './simulator/token-server.ts';
import type { TokenServer } from './simulator/token-server.ts';

export interface EmailSimulatorOptions {
  /** Whether the IMAP server knows IDLE; it does by default. `refused`: it says so, and answers NO. */
  readonly idle?: boolean | 'refused';
  readonly folders?: readonly string[];
  /** A further folder, which the server says is for sent mail. */
  readonly sentFolder?: string;
  /** Both servers take tokens instead of a password, from a token server of their own. */
  readonly oauth?: boolean;
  /** Key and certificate, as PEM: both servers then offer STARTTLS and log nobody in without. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A mail provider for one mailbox: an IMAP and an SMTP server, with what mail alone has. */
export interface EmailSimulator extends PlatformSimulator {
  readonly address: string;
  /** Puts a mail into a folder as it is. */
  deliver(raw: string | Buffer, folder?: string, arrivedAt?: Date, flags?: readonly string[]): void;
  /** The mails that were sent, as they went over the wire. */
  sent(): readonly { readonly from: string; readonly to: string; readonly raw: string }[];
  /** What lies in a folder. */
  stored(folder: string): readonly { readonly raw: string; readonly flags: ReadonlySet<string> }[];
  /** The mailbox takes no more mail from us. */
  fillUp(): void;
  /** A mail of ours comes back: the report of a server (RFC 3464) about it. */
  bounce(messageId: string, report?: { readonly action?: string; readonly recipient?: string }): void;
  /** Where tokens are made, with `oauth`. */
  readonly tokens: TokenServer | undefined;
  /** IMAP commands in the order they came. */
  readonly log: readonly string[];
  /** IDLE is accepted from now on, and nothing is told. */
  deafen(): void;
  /** Whether somebody waits for news. */
  isIdling(): boolean;
  /** Commands are read from now on, and never answered. */
  freeze(isFrozen: boolean): void;
  /** Breaks every IMAP connection off. */
  drop(): void;
  /** Somebody deletes the oldest mail of a folder. */
  removeFirst(folder: string): void;
  /** The folder is rebuilt under new numbers. */
  renumber(folder: string): void;
  /** The next mail is refused. */
  refuse(refusal: SmtpRefusal): void;
  /** Faults that are planned and have not happened. */
  faultsLeft(): number;
  /** SMTP connections that are open now. */
  smtpConnections(): number;
}

const address = 'hermes@gateway.test';
const password = 'simulated-password-AAAA';
const person = 'alice@example.org';

const startWorlds = async (wanted: EmailSimulatorOptions, onMail: SmtpWorld['onMail']) => {
  const { tls, sentFolder } = wanted;
  const mailboxes = newMailboxes([...(wanted.folders ?? ['INBOX']), ...(sentFolder === undefined ? [] : [sentFolder])], () => systemClock.now());
  const tokens = wanted.oauth === true ? await startTokenServer() : undefined;
  const shared = { user: address, password, faults: newFaults(), clock: systemClock, ...(tokens !== undefined && { tokens }) };
  const secure = tls === undefined ? {} : { secure: (await import('./simulator/secure.ts')).securing(tls) };
  const imap: ImapWorld = { ...shared, mailboxes, idle: wanted.idle ?? true, deaf: false, frozen: false, full: false, log: [], ...secure, ...(sentFolder !== undefined && { sentFolder }) };
  const smtp: SmtpWorld = { ...shared, refusals: [], onMail, ...(tls !== undefined && { tls }) };
  return { mailboxes, imap, smtp, tokens };
};

/** Starts a provider on 127.0.0.1, for tests and the playground. */
export const startEmailSimulator = async (wanted: EmailSimulatorOptions = {}): Promise<EmailSimulator> => {
  const sent: { from: string; to: string; raw: string }[] = [];
  const shown: VisibleMessage[] = [];
  const { mailboxes, imap, smtp, tokens } = await startWorlds(wanted, ({ from, to, raw }) => {
    sent.push({ from, to, raw: raw.toString() });
    void showMail(raw, to).then((message) => shown.push(message));
  });
  const imapServer = await startImap(imap, 0);
  const smtpServer = await startSmtp(smtp, 0);
  const delivered = new Map<string, Buffer>();
  let count = 0;
  const deliver: EmailSimulator['deliver'] = (raw, folder = 'INBOX', arrivedAt, flags) => mailboxes.append(folder, { raw: Buffer.from(raw), arrivedAt, flags });
  const speak = async (message: SimulatedMessage, genuine: boolean): Promise<string> => {
    const from = message.own === true ? address : message.senderId;
    const thread = message.threadId === undefined ? undefined : shown.findLast(({ threadId }) => threadId === message.threadId)?.id;
    const references = [thread, message.replyTo].filter((id) => id !== undefined);
    const messageId = `mail-${(count += 1)}@${from.slice(from.indexOf('@') + 1)}`;
    const { raw } = await writeMail(message, { messageId, from, to: address, references, date: new Date(systemClock.now()) });
    const mail = deliveredBy(raw, { from, genuine });
    delivered.set(messageId, mail);
    deliver(mail);
    return messageId;
  };
  const options = {
    address,
    ...(tokens === undefined ? { password } : { oauth: tokens.options }),
    imap_host: '127.0.0.1',
    imap_port: imapServer.port,
    imap_security: wanted.tls === undefined ? 'none' : 'starttls',
    smtp_host: '127.0.0.1',
    smtp_port: smtpServer.port,
    smtp_security: wanted.tls === undefined ? 'none' : 'starttls',
    authserv_ids: [authservId],
    folders: wanted.folders ?? ['INBOX'],
    poll_interval_seconds: 0.1,
  };
  const folders = mailboxes.names.filter((name) => name !== wanted.sentFolder).map((name) => mailboxes.get(name));
  return {
    address,
    options,
    badOptions: { ...options, ...(tokens === undefined ? { password: 'wrong-password-BBBB' } : { oauth: { ...tokens.options, refresh_token: 'wrong-token-BBBB' } }) },
    secrets: tokens === undefined ? [password] : tokens.secrets,
    places: [{ chatId: person, chatType: 'dm', senderId: person }],
    fixtures: Object.entries(mails).map(([name, lines]) => ({ name, payload: lines.join('\r\n') })),
    deliver,
    sent: () => sent,
    log: imap.log,
    stored: (folder) => (mailboxes.get(folder)?.mails ?? []).map(({ raw, flags }) => ({ raw: raw.toString(), flags })),
    fillUp: () => void (imap.full = true),
    bounce: (messageId, report = {}) => deliver(writeBounce({ messageId, to: address, recipient: report.recipient ?? person, action: report.action ?? 'failed' })),
    tokens,
    deafen: () => void (imap.deaf = true),
    isIdling: () => imapServer.sessions().some((session) => session.isIdling),
    freeze: (isFrozen) => void (imap.frozen = isFrozen),
    drop() {
      for (const session of imapServer.sessions()) session.destroy();
    },
    removeFirst: (folder) => void mailboxes.get(folder)?.mails.shift(),
    renumber: (folder) => mailboxes.renumber(folder),
    refuse: (refusal) => void smtp.refusals.push(refusal),
    faultsLeft: () => imap.faults.left(),
    smtpConnections: () => smtpServer.connections,
    say: (message) => speak(message, true),
    forge: (message) => speak(message, false),
    async redeliver(nativeId) {
      deliver(delivered.get(nativeId) ?? '');
    },
    async sendUnknownEvent() {
      deliver('From: post@future.test\r\nMessage-ID: <hologram@future.test>\r\nContent-Type: multipart/report; report-type=hologram; boundary=x\r\n\r\n--x\r\nContent-Type: application/hologram\r\n\r\n?\r\n--x--\r\n');
    },
    acknowledged: () => folders.flatMap((folder) => folder?.mails ?? []).filter(({ flags }) => flags.has('\\Seen')).length,
    visible: (chatId) => shown.filter((message) => message.chatId === chatId),
    typing: () => [],
    press: () => Promise.reject(new Error('mail has no buttons')),
    fail(plan) {
      imap.faults.plan(plan);
      if (plan.what === 'receive' || plan.what === 'any') for (const session of imapServer.sessions()) session.interrupt();
    },
    replay: async (payload) => deliver(String(payload)),
    async [Symbol.asyncDispose]() {
      await imapServer[Symbol.asyncDispose]();
      await smtpServer[Symbol.asyncDispose]();
      await tokens?.[Symbol.asyncDispose]();
    },
  };
};
