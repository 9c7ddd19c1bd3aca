import type { Agent } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { PlatformError } from '../../core/errors.ts';
import { slept } from '../../lib/clock.ts';
import type { Clock } from '../../lib/clock.ts';
import { integer, record, text } from './wire.ts';
import type { Json } from './wire.ts';

const opcodes = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, requestMembers: 8, invalidSession: 9, hello: 10, acknowledged: 11 } as const;

/** Guilds, their messages and reactions, direct messages and reactions, and the words in all of them. */
const intents = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 15);

/** Where a session can be taken up again. */
export interface Session {
  readonly id: string;
  readonly url: string;
  /** The last event before which everything is stored. */
  readonly seq: number;
}

export interface Dispatch {
  readonly name: string;
  readonly seq: number;
  readonly data: Json;
}

export interface SocketParts {
  readonly url: string;
  readonly token: string;
  /** Undefined begins a new session. */
  readonly session: Session | undefined;
  /** Which of how many connections this is, where there are several. */
  readonly shard?: readonly [number, number];
  readonly agent: Agent;
  readonly clock: Clock;
  onDispatch(dispatch: Dispatch): void;
  /** Something came back from Discord. */
  onAlive(): void;
  /** Discord will not take the session up again. */
  onSessionLost(): void;
  /** What heartbeats report: the last event before which everything is stored. */
  storedSeq(): number | undefined;
}

export interface GatewaySocket {
  /** Resolves when aborted; rejects when the connection is lost, as `fail` says or by itself. */
  readonly ended: Promise<void>;
  /** Resolves when the session has begun or goes on, and also when that will not be. */
  readonly ready: Promise<void>;
  fail(error: unknown): void;
  /** Asks for a member of a guild; the answer is an event. */
  requestMember(guildId: string, userId: string, nonce: string): void;
  /** Stops and starts reading, so that no more is taken in than can be stored. */
  pause(): void;
  resume(): void;
}

const helloTimeoutMs = 20_000;
const readyTimeoutMs = 30_000;
const closeTimeoutMs = 500;
/** For an answer that came while this process stood still, and was not read yet. */
const unreadMs = 1000;

/** Ends the connection without ending the session, which 1000 would. */
const keepSession = 4900;

const fix = 'Switch on "Message Content Intent" below Bot > Privileged Gateway Intents at https://discord.com/developers/applications.';

interface Closing {
  readonly code: 'bad_credential' | 'rejected' | 'unavailable';
  readonly reason: string;
  readonly losesSession?: true;
}

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const closings: Readonly<Record<number, Closing>> = {
  4003: { code: 'unavailable', reason: 'we spoke before we had said who we are', losesSession: true },
  4004: { code: 'bad_credential', reason: 'Discord does not accept the token. Reset it below Bot in the developer portal, and set DISCORD_BOT_TOKEN.', losesSession: true },
  4007: { code: 'unavailable', reason: 'the position in the session is not known there', losesSession: true },
  4009: { code: 'unavailable', reason: 'the session has timed out', losesSession: true },
  4010: { code: 'unavailable', reason: 'the number of connections is not valid any more; the next try asks for it anew', losesSession: true },
  4011: { code: 'unavailable', reason: 'the bot is in too many servers for so few connections. Leave platforms.discord.shards out, so that there are as many as Discord recommends, or make it larger.', losesSession: true },
  4012: { code: 'rejected', reason: 'the version of the gateway is not valid', losesSession: true },
  4013: { code: 'bad_credential', reason: `the intents are not valid. ${fix}`, losesSession: true },
  4014: { code: 'bad_credential', reason: `the bot may not read messages. ${fix}`, losesSession: true },
};

const identity = ({ token, session, shard }: Pick<SocketParts, 'token' | 'session' | 'shard'>): Json => {
  if (session !== undefined) return { op: opcodes.resume, d: { token, session_id: session.id, seq: session.seq } };
  return { op: opcodes.identify, d: { token, intents, properties: { os: process.platform, browser: 'hermes', device: 'hermes' }, large_threshold: 50, ...(shard !== undefined && { shard }) } };
};

const parseFrame = (raw: RawData): Json | undefined => {
  try {
    return record(JSON.parse(String(raw)));
  } catch {
    return undefined;
  }
};

/** One connection to Discord's gateway. It keeps the heartbeat, tells when it is lost, and never connects again. */
class Connection {
  readonly #parts: SocketParts;
  readonly #socket: WebSocket;
  readonly #over = new AbortController();
  readonly #outcome = Promise.withResolvers<void>();
  readonly #begun = Promise.withResolvers<void>();
  #hasHeard = true;
  #isPaused = false;
  #isReady = false;
  #hasHello = false;

  constructor(parts: SocketParts, socket: WebSocket, signal: AbortSignal) {
    this.#parts = parts;
    this.#socket = socket;
    socket.on('message', (raw) => this.#receive(raw));
    socket.on('close', (code) => this.#closed(code));
    socket.on('error', (cause) => this.fail(new PlatformError('unavailable', 'the connection to the gateway failed', { cause })));
    const stop = (): void => this.#end();
    signal.addEventListener('abort', stop, { once: true, signal: this.#over.signal });
    if (signal.aborted) stop();
    void this.#expect(helloTimeoutMs, () => this.#hasHello, 'the gateway said nothing');
    void this.#expect(helloTimeoutMs + readyTimeoutMs, () => this.#isReady, 'the gateway never became ready');
  }

  get ended(): Promise<void> {
    return this.#outcome.promise;
  }

  get ready(): Promise<void> {
    return this.#begun.promise;
  }

  fail(error: unknown): void {
    this.#end(error);
  }

  requestMember(guildId: string, userId: string, nonce: string): void {
    this.#send({ op: opcodes.requestMembers, d: { guild_id: guildId, user_ids: [userId], limit: 0, nonce } });
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#hasHeard = true;
    this.#socket.resume();
  }

  #end(error?: unknown): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#begun.resolve();
    this.#socket.close(keepSession);
    const timer = setTimeout(() => this.#socket.terminate(), closeTimeoutMs);
    this.#socket.once('close', () => clearTimeout(timer));
    if (this.#isPaused) this.#socket.terminate();
    if (error === undefined) this.#outcome.resolve();
    else this.#outcome.reject(error);
  }

  #send(frame: Json): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  async #expect(withinMs: number, holds: () => boolean, otherwise: string): Promise<void> {
    if ((await slept(this.#parts.clock, withinMs, this.#over.signal)) && !holds()) this.fail(new PlatformError('unavailable', otherwise));
  }

  #receive(raw: RawData): void {
    if (this.#over.signal.aborted) return;
    const frame = parseFrame(raw);
    if (frame === undefined) return this.fail(new PlatformError('unavailable', 'the gateway sent something that is not its protocol'));
    // Whatever comes: the answer to a heartbeat may wait behind a thousand events.
    this.#hasHeard = true;
    switch (frame['op']) {
      case opcodes.dispatch:
        return this.#dispatched(frame);
      case opcodes.heartbeat:
        return this.#beat();
      case opcodes.hello:
        return this.#greeted(record(frame['d']));
      case opcodes.acknowledged:
        return this.#isReady ? this.#parts.onAlive() : undefined;
      case opcodes.reconnect:
        return this.fail(new PlatformError('unavailable', 'Discord asks us to connect anew'));
      case opcodes.invalidSession:
        if (frame['d'] !== true) this.#parts.onSessionLost();
        return this.fail(new PlatformError('unavailable', 'Discord does not take the session up again'));
      default:
        return undefined;
    }
  }

  #dispatched(frame: Json): void {
    const name = text(frame['t']);
    const seq = integer(frame['s']);
    if (name === undefined || seq === undefined) return;
    if (name === 'READY' || name === 'RESUMED') {
      this.#isReady = true;
      this.#parts.onAlive();
      this.#begun.resolve();
    }
    this.#parts.onDispatch({ name, seq, data: record(frame['d']) ?? {} });
  }

  #greeted(hello: Json | undefined): void {
    if (this.#hasHello) return;
    this.#hasHello = true;
    this.#send(identity(this.#parts));
    void this.#keepBeating(integer(hello?.['heartbeat_interval']) ?? 41_250);
  }

  #beat(): void {
    this.#send({ op: opcodes.heartbeat, d: this.#parts.storedSeq() ?? null });
  }

  /** A heartbeat after which nothing has come when the next one is due means that the other side is gone. */
  async #keepBeating(everyMs: number): Promise<void> {
    const { clock } = this.#parts;
    let waitMs = Math.floor(everyMs * Math.random());
    while (await slept(clock, waitMs, this.#over.signal)) {
      if (this.#isUnanswered() && (await slept(clock, Math.min(everyMs, unreadMs), this.#over.signal)) && this.#isUnanswered()) return this.fail(new PlatformError('unavailable', 'heartbeats are not answered any more'));
      this.#hasHeard = false;
      this.#beat();
      waitMs = everyMs;
    }
  }

  #isUnanswered(): boolean {
    return !this.#hasHeard && !this.#isPaused;
  }

  #closed(code: number): void {
    const closing = closings[code];
    if (closing?.losesSession === true) this.#parts.onSessionLost();
    this.fail(new PlatformError(closing?.code ?? 'unavailable', `the gateway closed the connection (${code})${closing === undefined ? '' : `: ${closing.reason}`}`));
  }
}

/** `ws` is loaded here and not before, so that a gateway without Discord does not pay for it. */
export const openSocket = async (parts: SocketParts, signal: AbortSignal): Promise<GatewaySocket> => {
  const { WebSocket } = await import('ws');
  const url = new URL(parts.url);
  url.searchParams.set('v', '10');
  url.searchParams.set('encoding', 'json');
  return new Connection(parts, new WebSocket(url, { agent: parts.agent, perMessageDeflate: false, handshakeTimeout: helloTimeoutMs }), signal);
};
