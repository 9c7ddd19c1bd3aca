import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, FaultPlan, PlatformSimulator, SimulatedMessage, VisibleMessage } from 'hermes-gateway/platform';
import { fold, isChannel, nickOf, printLine, readLine } from './wire.ts';
import type { Line } from './wire.ts';

/** What a server of today can do. */
const capabilities = ['message-tags', 'server-time', 'account-tag', 'echo-message', 'labeled-response', 'batch', 'sasl'];
const password = 'simulated-sasl-password';
const controls = /[\p{Cc}--\n]/gv;

const recorded = [
  ':irc.example.org NOTICE * :*** Looking up your hostname...',
  ':irc.example.org 372 hermes :- Welcome to the network',
  ':alice!~alice@203.0.113.7 JOIN #room',
  ':alice!~alice@203.0.113.7 PRIVMSG hermes :\u0001VERSION\u0001',
  ':alice!~alice@203.0.113.7 PRIVMSG #room :\u0001ACTION waves\u0001',
  '@time=2026-01-02T03:04:05.678Z;msgid=abc\\s1;account=alice :alice!~alice@203.0.113.7 PRIVMSG #room :\u0002bold\u0002 and \u000304,12coloured\u0003',
  ':alice!~alice@203.0.113.7 QUIT :Ping timeout: 240 seconds',
  ':irc.example.org 353 hermes = #room :@alice hermes +bob',
];

export interface IrcSimulatorOptions {
  /** What the server offers of IRCv3; everything when left out. */
  readonly capabilities?: readonly string[];
  /** Nicks that somebody else has. */
  readonly taken?: readonly string[];
}

export interface IrcSimulator extends PlatformSimulator {
  /** Every line that clients sent, in order. */
  readonly log: readonly string[];
  /** Nicks of the clients that are registered. */
  nicks(): readonly string[];
}

interface Client {
  readonly socket: Socket;
  readonly capabilities: Set<string>;
  readonly channels: Set<string>;
  nick: string;
  hasUser: boolean;
  negotiating: boolean;
  loggedIn: boolean;
  registered: boolean;
}

/** A small IRC server with one client of interest: ours. */
class IrcServer {
  readonly log: string[] = [];
  readonly clients = new Set<Client>();
  readonly shown: VisibleMessage[] = [];
  readonly faults: { what: FaultPlan['what']; fault: Fault; left: number }[] = [];
  readonly #options: Required<IrcSimulatorOptions>;

  constructor(options: Required<IrcSimulatorOptions>) {
    this.#options = options;
  }

  connect(socket: Socket): void {
    const client: Client = { socket, capabilities: new Set(), channels: new Set(), nick: '*', hasUser: false, negotiating: false, loggedIn: false, registered: false };
    this.clients.add(client);
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('data', (data: string) => {
      const lines = (rest + data).split('\r\n');
      rest = lines.pop() ?? '';
      for (const text of lines) this.#take(client, text);
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.clients.delete(client));
  }

  /** Tags go only to who asked for them. */
  tell(client: Client, text: string): void {
    if (!client.socket.destroyed) client.socket.write(`${client.capabilities.has('message-tags') ? text : text.replace(/^@\S+ /, '')}\r\n`);
  }

  /** Every connection breaks. */
  cutOff(): void {
    for (const { socket } of this.clients) socket.destroy();
    this.clients.clear();
  }

  takeFault(what: FaultPlan['what']): Fault | undefined {
    const found = this.faults.find((plan) => plan.left > 0 && (plan.what === what || plan.what === 'any'));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }

  #take(client: Client, text: string): void {
    this.log.push(text);
    const line = readLine(text);
    if (line === undefined) return;
    switch (line.command) {
      case 'CAP':
        return this.#negotiate(client, line);
      case 'AUTHENTICATE':
        return this.#authenticate(client, line);
      case 'NICK':
        if (this.#options.taken.includes(line.params[0] ?? '')) return this.#number(client, '433', [line.params[0] ?? '', 'Nickname is already in use']);
        client.nick = line.params[0] ?? '*';
        return this.#welcome(client);
      case 'USER':
        client.hasUser = true;
        return this.#welcome(client);
      case 'JOIN':
        client.channels.add(fold(line.params[0] ?? ''));
        return this.tell(client, `:${client.nick}!h@sim JOIN ${line.params[0] ?? ''}`);
      case 'PING':
        return this.tell(client, `:sim PONG sim :${line.params[0] ?? ''}`);
      case 'PRIVMSG':
        return void this.#say(client, line);
      case 'QUIT':
        return void client.socket.end('ERROR :bye\r\n');
      default:
    }
  }

  #number(client: Client, number: string, params: readonly string[], tags: Readonly<Record<string, string>> = {}): void {
    this.tell(client, printLine(`:sim ${number} ${client.nick}`, params, tags).replace(/^(@\S+ )?/, '$1'));
  }

  #negotiate(client: Client, line: Line): void {
    const names = (line.params[1] ?? '').split(' ').filter((name) => name !== '');
    if (line.params[0] === 'LS') {
      client.negotiating = true;
      this.tell(client, `:sim CAP * LS :${this.#options.capabilities.join(' ')}`);
    } else if (line.params[0] === 'REQ') {
      const known = names.every((name) => this.#options.capabilities.includes(name));
      if (known) for (const name of names) client.capabilities.add(name);
      this.tell(client, `:sim CAP * ${known ? 'ACK' : 'NAK'} :${names.join(' ')}`);
    } else if (line.params[0] === 'END') {
      client.negotiating = false;
      this.#welcome(client);
    }
  }

  #authenticate(client: Client, line: Line): void {
    if (line.params[0] === 'PLAIN') return this.tell(client, 'AUTHENTICATE +');
    const [, , given] = Buffer.from(line.params[0] ?? '', 'base64').toString().split('\0');
    client.loggedIn = given === password;
    return this.#number(client, client.loggedIn ? '903' : '904', [client.loggedIn ? 'SASL authentication successful' : 'SASL authentication failed']);
  }

  #welcome(client: Client): void {
    if (client.registered || client.negotiating || client.nick === '*' || !client.hasUser) return;
    const fault = this.takeFault('identify');
    if (fault !== undefined && fault.type !== 'delay') {
      if (fault.type === 'garbage') client.socket.write('\u0000\u0001 what?\r\n');
      else if (fault.type !== 'hang') client.socket.end(`ERROR :Closing link\r\n`);
      return;
    }
    client.registered = true;
    this.#number(client, '001', [`Welcome to the simulated network, ${client.nick}`]);
    this.#number(client, '376', ['End of /MOTD command']);
  }

  async #say(client: Client, line: Line): Promise<void> {
    const label = line.tags.get('label');
    const tags = label === undefined ? {} : { label };
    const [target = '', text = ''] = line.params;
    const fault = this.takeFault('send');
    switch (fault?.type) {
      case 'status':
        return this.#number(client, '404', [target, 'Cannot send to channel'], tags);
      case 'rate_limit':
        return this.#number(client, '439', [target, `Please wait ${Math.ceil(fault.retryAfterMs / 1000)} seconds`], tags);
      case 'refuse':
        return void client.socket.destroy();
      case 'garbage':
        return void client.socket.write('\u0000\u0001 what?\r\n');
      case 'hang':
        return;
      case 'delay':
        await delay(fault.ms);
        break;
      case 'drop_answer':
      case undefined:
        break;
      default:
        fault satisfies never;
    }
    const prefix = `:${client.nick}!h@sim PRIVMSG ${target} :`;
    if (Buffer.byteLength(prefix) + Buffer.byteLength(text) > 510) return this.#number(client, '417', ['Input line was too long'], tags);
    const id = randomUUID();
    const replyTo = line.tags.get('+draft/reply');
    this.shown.push({ id, chatId: fold(target), ...(replyTo !== undefined && { replyTo }), text: text.replaceAll(controls, ''), media: [], choices: [], reactions: [], edited: 0 });
    if (fault?.type === 'drop_answer') return void client.socket.destroy();
    if (client.capabilities.has('echo-message')) this.tell(client, `${printLine(prefix.slice(0, -2), [text], { msgid: id, ...tags })}`);
  }
}

/** A tag stands before the source. */
const spoken = (tags: Readonly<Record<string, string>>, source: string, target: string, text: string): string => {
  const written = printLine('PRIVMSG', [target, text], tags);
  return written.replace(/^(@\S+ )?/, `$1:${source} `);
};

/** Starts a server on this machine. */
export const startIrcSimulator = async (wishes: IrcSimulatorOptions = {}): Promise<IrcSimulator> => {
  const irc = new IrcServer({ capabilities, taken: [], ...wishes });
  const server = createServer((socket) => irc.connect(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const said = new Map<string, string>();
  const options = { server: '127.0.0.1', port: (server.address() as AddressInfo).port, tls: false, nick: 'hermes', channels: ['#Room'], burst: 100, line_seconds: 0, ...((wishes.capabilities ?? capabilities).includes('sasl') && { sasl_password: password }) };
  const ready = async (channel?: string): Promise<Client> => {
    for (;;) {
      const found = [...irc.clients].find((client) => client.registered && (channel === undefined || client.channels.has(channel)));
      if (found !== undefined) return found;
      await delay(3);
    }
  };
  const say = async ({ chatId, senderId, text, mention, own, replyTo }: SimulatedMessage): Promise<string> => {
    const client = await ready(isChannel(chatId) ? chatId : undefined);
    const id = randomUUID();
    const source = own === true ? `${client.nick}!h@sim` : `${senderId}!~${senderId}@203.0.113.7`;
    const line = spoken({ msgid: id, time: new Date().toISOString(), account: senderId, ...(replyTo !== undefined && { '+draft/reply': replyTo }) }, source, isChannel(chatId) ? chatId : client.nick, mention === true ? `${client.nick}: ${text}` : text);
    said.set(id, line);
    irc.tell(client, line);
    return id;
  };
  return {
    options,
    badOptions: { ...options, sasl_password: 'somebody-elses-password' },
    secrets: [password, Buffer.from(`\0hermes\0${password}`).toString('base64')],
    places: [
      { chatId: 'alice', chatType: 'dm', senderId: 'alice' },
      { chatId: '#room', chatType: 'group', senderId: 'alice' },
    ],
    log: irc.log,
    nicks: () => [...irc.clients].filter(({ registered }) => registered).map(({ nick }) => nick),
    say,
    async redeliver(nativeId) {
      irc.tell(await ready(), said.get(nativeId) ?? '');
    },
    async sendUnknownEvent() {
      const client = await ready();
      for (const line of [':sim 998 hermes :something new', `@+typing=active :alice!~alice@203.0.113.7 TAGMSG ${nickOf(client.nick)}`, ':sim SOMETHINGNEW :with words']) irc.tell(client, line);
    },
    acknowledged: () => 0,
    visible: (chatId) => irc.shown.filter((message) => message.chatId === fold(chatId)),
    typing: () => [],
    press: () => Promise.reject(new Error('IRC has no buttons')),
    fail({ what, fault, count = 1 }) {
      if (what === 'receive') irc.cutOff();
      else irc.faults.push({ what, fault, left: count });
    },
    fixtures: recorded.map((payload) => ({ name: payload.split(' ').slice(0, 3).join(' '), payload })),
    async replay(payload) {
      irc.tell(await ready(), String(payload));
    },
    async [Symbol.asyncDispose]() {
      irc.cutOff();
      server.close();
      await once(server, 'close');
    },
  };
};
