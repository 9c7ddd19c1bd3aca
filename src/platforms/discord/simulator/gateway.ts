import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { integer, record, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { printGuild } from './printing.ts';
import { memberOf } from './world.ts';
import type { World } from './world.ts';

interface Sent {
  readonly seq: number;
  readonly frame: string;
  /** One of those that a test counts. */
  readonly counts: boolean;
}

/** What Discord keeps of a connection, so that it can be taken up again. */
interface Session {
  readonly id: string;
  /** Which part of the servers it hears of. */
  readonly shard: readonly [number, number];
  readonly log: Sent[];
  seq: number;
  acknowledged: number;
  socket: WebSocket | undefined;
  /** The connection lives, and nothing is delivered or kept. */
  deaf: boolean;
  /** A heartbeat is about to be asked for. */
  reminding: boolean;
}

export interface GatewayOptions {
  readonly heartbeatMs: number;
}

const mostLogged = 50_000;

/** https://discord.com/developers/docs/events/gateway#sharding */
const hears = ([index, count]: Session['shard'], guildId: string | undefined): boolean => (guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count))) === index;

const readShard = (value: unknown): Session['shard'] => (Array.isArray(value) ? [integer(value[0]) ?? 0, integer(value[1]) ?? 1] : [0, 1]);

/** Discord's gateway for one bot. */
export class SimulatedGateway {
  readonly frames: Json[] = [];
  readonly violations: string[] = [];
  /** The code with which the next identification is refused. */
  refuseWith: number | undefined;
  /** Sessions are not taken up again while this is set. */
  invalidate = false;
  /** How many connections are recommended; fewer are refused. */
  shards = 1;
  maxConcurrency = 1;
  /** How many sessions may still begin today. */
  startsLeft = 999;
  /** Nothing is said any more: heartbeats are neither answered nor asked for. */
  silent = false;
  readonly #world: World;
  readonly #token: string;
  readonly #url: () => string;
  readonly #options: GatewayOptions;
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #sessions = new Map<string, Session>();
  readonly #waiting = new Set<() => void>();
  #count = 0;

  constructor(parts: { readonly world: World; readonly token: string; readonly url: () => string } & GatewayOptions) {
    this.#world = parts.world;
    this.#token = parts.token;
    this.#url = parts.url;
    this.#options = parts;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#greet(opened));
  }

  get acknowledged(): number {
    return [...this.#sessions.values()].reduce((sum, { log, acknowledged }) => sum + log.filter(({ seq, counts }) => counts && seq <= acknowledged).length, 0);
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Resolves when somebody is there to hear. */
  async ready(): Promise<void> {
    if (this.#live().length > 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error('nobody has connected to the simulated gateway')), 60_000);
    const heard = (): void => resolve();
    this.#waiting.add(heard);
    await promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(heard);
    });
  }

  /** Happens now to whoever is connected, or to the next one. */
  toWhoeverConnects(act: () => void): void {
    if (this.#live().length > 0) act();
    else this.#waiting.add(act);
  }

  dispatch(name: string, data: Json, counts = false): void {
    for (const session of this.#sessions.values()) if (hears(session.shard, text(data['guild_id']))) this.#dispatchTo(session, name, data, counts);
  }

  /** Ends every connection: rudely, or with a code. */
  disconnect(code?: number): void {
    for (const { socket } of this.#sessions.values()) {
      if (code === undefined) socket?.terminate();
      else socket?.close(code);
    }
  }

  /** Sends a frame to whoever is connected. */
  broadcast(frame: string | Json): void {
    for (const session of this.#live()) session.socket?.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** From now on the sessions that there are deliver nothing, and answer heartbeats. */
  goDeaf(): void {
    for (const session of this.#sessions.values()) session.deaf = true;
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #live(): readonly Session[] {
    return [...this.#sessions.values()].filter(({ socket }) => socket !== undefined && socket.readyState === socket.OPEN);
  }

  #greet(socket: WebSocket): void {
    let session: Session | undefined;
    socket.send(JSON.stringify({ op: 10, s: null, t: null, d: { heartbeat_interval: this.#options.heartbeatMs, _trace: ['simulated'] } }));
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      if (session === undefined || session.socket !== socket) return;
      session.socket = undefined;
      // Somebody who says goodbye does not come back to the session.
      if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
    });
    socket.on('message', (raw) => {
      const frame = record(JSON.parse(String(raw))) ?? {};
      if (this.silent) return;
      this.frames.push(frame);
      session = this.#answer(socket, session, frame);
    });
  }

  #answer(socket: WebSocket, session: Session | undefined, frame: Json): Session | undefined {
    const data = record(frame['d']);
    switch (frame['op']) {
      case 1:
        if (session !== undefined) session.acknowledged = Math.max(session.acknowledged, integer(frame['d']) ?? 0);
        socket.send(JSON.stringify({ op: 11, s: null, t: null, d: null }));
        return session;
      case 2:
        return this.#identify(socket, data);
      case 6:
        return this.#resume(socket, data);
      case 8:
        if (session !== undefined && !hears(session.shard, text(data?.['guild_id']))) this.violations.push('asked for a member of a server that another connection hears of');
        else if (session !== undefined) this.#dispatchTo(session, 'GUILD_MEMBERS_CHUNK', { guild_id: this.#world.guildId, members: [{ ...memberOf(this.#world, this.#world.bot.id), user: this.#world.bot }], chunk_index: 0, chunk_count: 1, nonce: data?.['nonce'] }, false);
        return session;
      case 3:
      case 4:
        return session;
      default:
        socket.close(4001);
        return session;
    }
  }

  #identify(socket: WebSocket, data: Json | undefined): Session | undefined {
    if (this.refuseWith !== undefined || data?.['token'] !== this.#token) {
      socket.close(this.refuseWith ?? 4004);
      return undefined;
    }
    const shard = readShard(data['shard']);
    if (shard[1] < this.shards || shard[0] >= shard[1]) {
      socket.close(shard[1] < this.shards ? 4011 : 4010);
      return undefined;
    }
    this.#count += 1;
    const session: Session = { id: `session${this.#count}`, shard, log: [], seq: 0, acknowledged: 0, socket, deaf: false, reminding: false };
    this.#sessions.set(session.id, session);
    const isThere = hears(shard, this.#world.guildId);
    const guilds = isThere ? [{ id: this.#world.guildId, unavailable: true }] : [];
    const { bot, applicationId } = this.#world;
    this.#dispatchTo(session, 'READY', { v: 10, user: bot, guilds, session_id: session.id, resume_gateway_url: this.#url(), application: { id: applicationId, flags: 1 << 19 }, shard, private_channels: [], relationships: [], user_settings: {} }, false);
    if (isThere) this.#dispatchTo(session, 'GUILD_CREATE', printGuild(this.#world), false);
    this.#heard();
    return session;
  }

  #resume(socket: WebSocket, data: Json | undefined): Session | undefined {
    const session = this.#sessions.get(text(data?.['session_id']) ?? '');
    if (data?.['token'] !== this.#token) {
      socket.close(4004);
      return undefined;
    }
    if (session === undefined || this.invalidate) {
      socket.send(JSON.stringify({ op: 9, s: null, t: null, d: false }));
      return undefined;
    }
    const seen = integer(data?.['seq']) ?? 0;
    session.socket = socket;
    session.acknowledged = Math.max(session.acknowledged, seen);
    for (const { seq, frame } of session.log) if (seq > seen) socket.send(frame);
    this.#dispatchTo(session, 'RESUMED', {}, false);
    this.#heard();
    this.#remind(session);
    return session;
  }

  #heard(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  #dispatchTo(session: Session, name: string, data: Json, counts: boolean): void {
    if (session.deaf) return;
    session.seq += 1;
    const sent: Sent = { seq: session.seq, frame: JSON.stringify({ op: 0, s: session.seq, t: name, d: data }), counts };
    session.log.push(sent);
    if (session.log.length > mostLogged) session.log.shift();
    if (session.socket?.readyState === session.socket?.OPEN) session.socket?.send(sent.frame);
    if (counts) this.#remind(session);
  }

  /** Asks for heartbeats until they say that everything has been seen; Discord may ask at any time, too. */
  #remind(session: Session, afterMs = 5): void {
    if (session.reminding) return;
    session.reminding = true;
    setTimeout(() => {
      session.reminding = false;
      const { socket } = session;
      const last = session.log.findLast(({ counts }) => counts)?.seq ?? 0;
      if (this.silent || session.acknowledged >= last || socket === undefined || socket.readyState !== socket.OPEN) return;
      socket.send(JSON.stringify({ op: 1, s: null, t: null, d: null }));
      this.#remind(session, Math.min(afterMs * 2, 100));
    }, afterMs).unref();
  }
}
