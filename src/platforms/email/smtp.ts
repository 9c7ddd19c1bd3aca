import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type SmtpConnectionClass from 'nodemailer/lib/smtp-connection';
import type XOAuth2Class from 'nodemailer/lib/xoauth2';
import { PlatformError } from '../../core/errors.ts';
import { newChains } from '../../lib/chains.ts';
import { smtpError } from './errors.ts';
import type { Login, Logins } from './login.ts';
import type { EmailOptions, Servers } from './options.ts';

export interface Submission {
  readonly from: string;
  readonly to: string;
  readonly raw: Buffer;
}

/** The way out of one mailbox: one connection at a time, kept open for a while. Nothing is tried twice. */
export interface Smtp {
  /** Connects and logs in, as a test. */
  verify(signal: AbortSignal): Promise<void>;
  submit(mail: Submission, signal: AbortSignal): Promise<void>;
}

export interface SmtpDialling {
  readonly SmtpConnection: typeof SmtpConnectionClass;
  readonly XOAuth2: typeof XOAuth2Class;
  readonly logins: Logins;
  readonly options: EmailOptions;
  readonly server: Servers['smtp'];
  readonly tls: ConnectionOptions;
}

const aborted = (): PlatformError => new PlatformError('aborted', 'aborted');

const patienceMs = 30_000;
/** A server may take its time over a large message. */
const silenceMs = 120_000;
const keepMs = 20_000;

type Connection = InstanceType<typeof SmtpConnectionClass>;

const newConnection = ({ SmtpConnection, options, server, tls }: SmtpDialling): Connection =>
  new SmtpConnection({
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    name: options.address.slice(options.address.lastIndexOf('@') + 1),
    tls,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: silenceMs,
    logger: false,
  });

type Step = (done: (error?: unknown) => void) => void;

/** Runs one exchange; it ends with the connection and with the caller. */
const exchange = async (connection: Connection, signal: AbortSignal, step: Step): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = (): void => reject(signal.reason);
  const lost = (error: unknown): void => reject(error);
  // The library says that it is over before it says why.
  const ended = (): void => void setImmediate(lost, new Error('closed'));
  signal.addEventListener('abort', leave, { once: true });
  connection.on('error', lost);
  connection.on('end', ended);
  try {
    step((error) => (error ? reject(error) : resolve()));
    await promise;
  } finally {
    signal.removeEventListener('abort', leave);
    connection.off('error', lost);
    connection.off('end', ended);
  }
};

/** A token that is refused is renewed outside: the library gets this one only. */
const authOf = ({ XOAuth2 }: SmtpDialling, login: Login) => ('pass' in login ? { user: login.user, pass: login.pass } : { user: login.user, oauth2: new XOAuth2({ user: login.user, accessToken: login.accessToken }) });

const dialAs = async (dialling: SmtpDialling, login: Login, signal: AbortSignal): Promise<Connection> => {
  const connection = newConnection(dialling);
  // An error between two exchanges has nobody else to hear it; the connection is then found closed.
  connection.on('error', () => undefined);
  try {
    await exchange(connection, signal, (done) => connection.connect(done));
    await exchange(connection, signal, (done) => connection.login(authOf(dialling, login), done));
    return connection;
  } catch (error) {
    connection.close();
    throw smtpError(error, { mayHaveArrived: false, signal });
  }
};

const dial = (dialling: SmtpDialling, signal: AbortSignal): Promise<Connection> => dialling.logins.use((login) => dialAs(dialling, login, signal), signal);

const isOpen = (connection: Connection): boolean => !connection.destroyed && connection._socket !== null && connection._socket !== false && !connection._socket.destroyed;

export const newSmtp = (dialling: SmtpDialling): Smtp => {
  const turns = newChains();
  let kept: { readonly connection: Connection; readonly timer: NodeJS.Timeout } | undefined;

  const keep = (connection: Connection): void => {
    // Neither the connection nor its end keeps a process alive that has nothing else to do.
    if (connection._socket) connection._socket.unref();
    kept = { connection, timer: setTimeout(() => connection.quit(), keepMs).unref() };
  };

  const take = async (signal: AbortSignal): Promise<Connection> => {
    const last = kept;
    kept = undefined;
    clearTimeout(last?.timer);
    if (last === undefined || !isOpen(last.connection)) return dial(dialling, signal);
    if (last.connection._socket) last.connection._socket.ref();
    return last.connection;
  };

  const submit = async ({ from, to, raw }: Submission, signal: AbortSignal): Promise<void> => {
    const connection = await take(signal);
    const body = Readable.from([raw]);
    let left = false;
    body.once('end', () => (left = true));
    try {
      await exchange(connection, signal, (done) => connection.send({ from, to: [to], size: raw.byteLength }, body, done));
      keep(connection);
    } catch (error) {
      connection.close();
      throw smtpError(error, { mayHaveArrived: left, signal });
    }
  };

  /** Whoever leaves while others are being served need not wait for them. */
  const inTurn = async (signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
    if (signal.aborted) throw aborted();
    const leaving = Promise.withResolvers<never>();
    const leave = (): void => leaving.reject(aborted());
    signal.addEventListener('abort', leave, { once: true });
    const served = turns.run('', async () => {
      signal.removeEventListener('abort', leave);
      if (signal.aborted) throw aborted();
      await work();
    });
    await Promise.race([served, leaving.promise]);
  };

  return {
    verify: (signal) => inTurn(signal, async () => keep(await take(signal))),
    submit: (mail, signal) => inTurn(signal, () => submit(mail, signal)),
  };
};
