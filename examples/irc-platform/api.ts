import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { PlatformError } from 'hermes-gateway/platform';
import type { IrcOptions } from './options.ts';
import { nickOf, printLine, readLine } from './wire.ts';
import type { Line } from './wire.ts';

/** A line that a server of this kind may send at most, with tags. */
const maxBufferedBytes = 64 * 1024;

/** What we can use, where the server has it. */
const wishes = ['message-tags', 'server-time', 'account-tag', 'echo-message', 'labeled-response', 'batch'];

const mostNicks = 4;
const mostEarly = 1000;

/** One connection to a server: lines in, lines out. It ends once, with a reason. */
export class Connection {
  readonly #socket: Socket;
  readonly #ended = Promise.withResolvers<PlatformError>();
  readonly #listeners = new Set<(line: Line) => void>();
  #rest = '';
  /** What came before anybody read. */
  #early: Line[] | undefined = [];
  #isOpen = true;
  /** Ours for now. */
  nick = '';
  capabilities: ReadonlySet<string> = new Set();

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (data: string) => this.#take(data));
    socket.on('error', (error) => this.end(new PlatformError('unavailable', 'the connection broke', { cause: error })));
    socket.on('close', () => this.end(new PlatformError('unavailable', 'the server closed the connection')));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves with the reason when the connection is over. */
  get ended(): Promise<PlatformError> {
    return this.#ended.promise;
  }

  /** Gives a reader everything that was said since we are here, also before it began to read. */
  read(reader: (line: Line) => void): Disposable {
    const early = this.#early ?? [];
    this.#early = undefined;
    const reading = this.listen(reader);
    for (const line of early) reader(line);
    return reading;
  }

  listen(listener: (line: Line) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  write(command: string, params: readonly string[] = [], tags: Readonly<Record<string, string>> = {}): void {
    if (this.#isOpen) this.#socket.write(`${printLine(command, params, tags)}\r\n`);
  }

  end(reason: PlatformError): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#ended.resolve(reason);
    this.#socket.destroySoon();
  }

  #take(data: string): void {
    const lines = (this.#rest + data).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > maxBufferedBytes) this.end(new PlatformError('unavailable', 'the server sent a line without an end'));
    for (const text of lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')) this.#read(text);
  }

  #read(text: string): void {
    const line = readLine(text);
    if (line === undefined) {
      this.end(new PlatformError('unavailable', 'the server does not speak IRC'));
      return;
    }
    if (line.command === 'PING') this.write('PONG', line.params.slice(-1));
    if (line.command === 'NICK' && nickOf(line.source) === this.nick) this.nick = line.params[0] ?? this.nick;
    if (this.#early !== undefined && this.#early.length < mostEarly) this.#early.push(line);
    for (const listener of this.#listeners) listener(line);
    if (line.command === 'ERROR') this.end(new PlatformError('unavailable', `the server ended the connection: ${line.params.join(' ').slice(0, 200)}`));
  }
}

/** Waits for the line that `pick` makes something of. Rejects with the end of the connection or of the caller. */
export const lineThat = async <T>(connection: Connection, signal: AbortSignal, pick: (line: Line) => T | undefined): Promise<T> => {
  const found = Promise.withResolvers<T>();
  using _listening = connection.listen((line) => {
    try {
      const value = pick(line);
      if (value !== undefined) found.resolve(value);
    } catch (error) {
      found.reject(error);
    }
  });
  const stop = (): void => found.reject(new PlatformError('aborted', 'stopped while waiting for the server', { cause: signal.reason }));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  void connection.ended.then((reason) => found.reject(reason));
  try {
    return await found.promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

const openSocket = ({ server, port, tls, ca_file: caFile }: IrcOptions): Socket => (tls ? connectTls({ host: server, port, servername: server, ...(caFile !== undefined && { ca: readFileSync(caFile) }) }) : connectTcp({ host: server, port }));

/** Which of our wishes the server has; empty for one that does not know the question. */
const offered = async (connection: Connection, signal: AbortSignal): Promise<readonly string[]> => {
  const list: string[] = [];
  const asked = lineThat(connection, signal, (line) => {
    if (line.command === '001' || line.command === '421' || line.command === '451') return list;
    if (line.command !== 'CAP' || line.params[1] !== 'LS') return undefined;
    list.push(...(line.params.at(-1) ?? '').split(' '));
    return line.params[2] === '*' ? undefined : list;
  });
  connection.write('CAP', ['LS', '302']);
  return (await asked).map((entry) => entry.split('=', 1)[0] ?? '');
};

const request = async (connection: Connection, names: readonly string[], signal: AbortSignal): Promise<void> => {
  if (names.length === 0) return;
  const answered = lineThat(connection, signal, (line) => (line.command === 'CAP' && ['ACK', 'NAK'].includes(line.params[1] ?? '') ? line : undefined));
  connection.write('CAP', ['REQ', names.join(' ')]);
  const line = await answered;
  if (line.params[1] === 'ACK') connection.capabilities = new Set((line.params.at(-1) ?? '').split(' ').filter((name) => name !== ''));
};

/** https://ircv3.net/specs/extensions/sasl-3.1, with PLAIN. */
const logIn = async (connection: Connection, { sasl_user: user, sasl_password: password = '', nick }: IrcOptions, signal: AbortSignal): Promise<void> => {
  if (!connection.capabilities.has('sasl')) throw new PlatformError('bad_credential', 'the server takes no login by SASL');
  const isAsked = lineThat(connection, signal, (line) => (line.command === 'AUTHENTICATE' ? line : refusedLogin(line)));
  connection.write('AUTHENTICATE', ['PLAIN']);
  await isAsked;
  const done = lineThat(connection, signal, (line) => (line.command === '903' ? line : refusedLogin(line)));
  const secret = Buffer.from(`\0${user ?? nick}\0${password}`).toString('base64');
  for (const part of [...(secret.match(/.{1,400}/g) ?? []), ...(secret.length % 400 === 0 ? ['+'] : [])]) connection.write('AUTHENTICATE', [part]);
  await done;
};

const refusedLogin = (line: Line): undefined => {
  if (['902', '904', '905', '906', '908'].includes(line.command)) throw new PlatformError('bad_credential', 'the server refused our login');
};

/** What a server says instead of welcoming us. */
const refusal = (line: Line): PlatformError | undefined => {
  switch (line.command) {
    case '464':
      return new PlatformError('bad_credential', 'the server refused our password');
    case '465':
      return new PlatformError('forbidden', 'we are banned from the server');
    case '432':
      return new PlatformError('rejected', 'the server does not allow our nick');
    default:
      return undefined;
  }
};

const register = async (connection: Connection, options: IrcOptions, signal: AbortSignal): Promise<void> => {
  let tries = 1;
  let wanted = options.nick;
  const welcomed = lineThat(connection, signal, (line) => {
    const refused = refusal(line);
    if (refused !== undefined) throw refused;
    if (line.command === '433' || line.command === '436') {
      if (tries === mostNicks) throw new PlatformError('conflict', `the nick ${options.nick} and those beside it are taken`);
      tries += 1;
      wanted += '_';
      connection.write('NICK', [wanted]);
    }
    return line.command === '001' ? (line.params[0] ?? wanted) : undefined;
  });
  // Whatever fails in between, this is awaited last and says why.
  const nothing = (): readonly string[] => [];
  const over = welcomed.then(nothing, nothing);
  if (options.password !== undefined) connection.write('PASS', [options.password]);
  const listed = offered(connection, signal);
  connection.write('NICK', [wanted]);
  connection.write('USER', [options.nick, '0', '*', options.nick]);
  const names = await Promise.race([listed, over]);
  const wanting = [...wishes, 'sasl'].filter((name) => names.includes(name) && (name !== 'sasl' || options.sasl_password !== undefined));
  await Promise.race([request(connection, wanting, signal), over]);
  if (options.sasl_password !== undefined && connection.isOpen) await logIn(connection, options, signal);
  connection.write('CAP', ['END']);
  connection.nick = await welcomed;
};

/** A connection on which we are known. */
export const openConnection = async (options: IrcOptions, signal: AbortSignal): Promise<Connection> => {
  signal.throwIfAborted();
  const connection = new Connection(openSocket(options));
  try {
    await register(connection, options, signal);
    return connection;
  } catch (error) {
    connection.end(new PlatformError('unavailable', 'it never began'));
    throw error;
  }
};
