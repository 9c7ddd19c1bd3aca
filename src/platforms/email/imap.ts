import type { ConnectionOptions } from 'node:tls';
import type { FetchMessageObject, FetchQueryObject, ImapFlow as ImapFlowClass, MailboxObject, SearchObject } from 'imapflow';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { imapError, isMissingFolder } from './errors.ts';
import type { Login } from './login.ts';
import type { EmailOptions, Servers } from './options.ts';

export interface Folder {
  readonly uidValidity: string;
  /** The next mail gets at least this number. */
  readonly uidNext: number;
}

/** One connection to the IMAP server. Every failure is a `PlatformError`, and ends it. */
export interface ImapLink extends Disposable {
  readonly canIdle: boolean;
  /** Rejects once the connection is lost. Never resolves. */
  readonly lost: Promise<never>;
  status(folder: string): Promise<Folder>;
  open(folder: string): Promise<Folder>;
  /** Numbers of the mails that fit, in the order they arrived. */
  search(query: SearchObject): Promise<readonly number[]>;
  /** Undefined when the mail is gone. */
  fetch(uid: number, query: FetchQueryObject): Promise<FetchMessageObject | undefined>;
  markSeen(uid: number): Promise<void>;
  /** The folder for sent mail, by what the server says or by its name; undefined when there is none. */
  sentFolder(): Promise<string | undefined>;
  /** Puts a mail that has been read into a folder. */
  append(folder: string, raw: Buffer): Promise<void>;
  noop(): Promise<void>;
  /** Lets the server tell about new mail until the next call. Resolves when that is over, by that or by the server. */
  idle(): Promise<void>;
  /** Called when the server says that there is more mail in the open folder. */
  onMail(listener: () => void): void;
}

export interface ImapDialling {
  readonly ImapFlow: typeof ImapFlowClass;
  readonly options: EmailOptions;
  readonly server: Servers['imap'];
  readonly login: Login;
  readonly tls: ConnectionOptions;
  readonly clock: Clock;
}

/** A server that does not answer a small question in this time is not there. */
const answerMs = 30_000;
const bodyMs = 300_000;

const folderOf = ({ uidValidity, uidNext }: Pick<MailboxObject, 'uidValidity' | 'uidNext'>): Folder => ({ uidValidity: String(uidValidity), uidNext });

const newClient = ({ ImapFlow, options, server, login, tls }: ImapDialling): ImapFlowClass =>
  new ImapFlow({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    ...(server.security !== 'tls' && { doSTARTTLS: server.security === 'starttls' }),
    auth: { ...login },
    tls,
    logger: false,
    disableAutoIdle: true,
    clientInfo: { name: 'hermes-gateway' },
    connectionTimeout: answerMs,
    greetingTimeout: answerMs,
    socketTimeout: Math.max(options.idle_check_seconds * 1000, bodyMs) + answerMs,
    maxLiteralSize: Math.ceil(options.max_message_mb * 1_048_576) + 1_048_576,
  });

/** Connects and logs in. The connection ends with the signal. */
export const dialImap = async (dialling: ImapDialling, signal: AbortSignal): Promise<ImapLink> => {
  if (signal.aborted) throw new PlatformError('aborted', 'aborted');
  const { clock } = dialling;
  const client = newClient(dialling);
  const losing = Promise.withResolvers<never>();
  losing.promise.catch(() => undefined);
  const close = (): void => client.close();
  client.on('error', (error) => losing.reject(imapError(error, signal)));
  client.on('close', () => losing.reject(imapError(undefined, signal)));
  signal.addEventListener('abort', close, { once: true });

  const call = async <T>(withinMs: number, run: () => Promise<T>): Promise<T> => {
    const done = new AbortController();
    const late = clock.sleep(withinMs, done.signal).then(() => Promise.reject(new PlatformError('unavailable', `the IMAP server has not answered for ${withinMs / 1000} s`)));
    try {
      return await Promise.race([run(), losing.promise, late]);
    } catch (error) {
      if (!done.signal.aborted && error instanceof PlatformError && error.code === 'not_found') throw error;
      close();
      throw imapError(error, signal);
    } finally {
      done.abort();
      late.catch(() => undefined);
    }
  };

  const orMissing = <T>(folder: string, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw isMissingFolder(error) ? new PlatformError('not_found', `there is no folder ${folder} in the mailbox; check the setting folders`, { missing: 'file' }) : error;
    });

  try {
    await call(answerMs, () => client.connect());
  } catch (error) {
    signal.removeEventListener('abort', close);
    throw error;
  }

  return {
    get canIdle() {
      return client.capabilities.has('IDLE');
    },
    lost: losing.promise,
    async status(folder) {
      const status = await call(answerMs, () => orMissing(folder, client.status(folder, { uidNext: true, uidValidity: true })));
      if (status === false || status.uidNext === undefined || status.uidValidity === undefined) throw new PlatformError('unavailable', `the IMAP server says nothing about the folder ${folder}`);
      return folderOf({ uidNext: status.uidNext, uidValidity: status.uidValidity });
    },
    open: (folder) => call(answerMs, async () => folderOf(await orMissing(folder, client.mailboxOpen(folder)))),
    async search(query) {
      const found = await call(answerMs, () => client.search(query, { uid: true }));
      if (!Array.isArray(found)) throw new PlatformError('unavailable', 'the IMAP server refused to search');
      return found.toSorted((a, b) => a - b);
    },
    async fetch(uid, query) {
      const mail = await call(bodyMs, () => client.fetchOne(String(uid), query, { uid: true }));
      // Without a folder, because the connection has just ended, the library answers nothing at all.
      if (mail === undefined) throw imapError(undefined, signal);
      return mail === false ? undefined : mail;
    },
    async markSeen(uid) {
      await call(answerMs, () => client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true }));
    },
    async sentFolder() {
      return (await call(answerMs, () => client.list())).find(({ specialUse }) => specialUse === '\\Sent')?.path;
    },
    async append(folder, raw) {
      if ((await call(bodyMs, () => client.append(folder, raw, ['\\Seen']))) === false) throw new PlatformError('unavailable', `the IMAP server did not take a mail into the folder ${folder}`);
    },
    noop: () => call(answerMs, () => client.noop()),
    async idle() {
      await Promise.race([client.idle(), losing.promise]);
    },
    onMail: (listener) => void client.on('exists', listener),
    [Symbol.dispose]() {
      signal.removeEventListener('abort', close);
      close();
    },
  };
};
