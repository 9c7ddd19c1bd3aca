import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { parseJson, record, text } from '../wire.ts';
import type { Carrier, Deliveries, Delivery } from './deliveries.ts';

/** Slack's end of the sockets of one app. */
export class Sockets implements Carrier {
  /** Which of several open ones gets the next delivery. */
  prefer: 'newest' | 'oldest' = 'newest';
  /** How many were opened so far. */
  opened = 0;
  readonly #server = new WebSocketServer({ noServer: true, autoPong: false });
  readonly #open = new Set<WebSocket>();
  readonly #mute = new WeakSet<WebSocket>();
  readonly #tickets = new Set<string>();
  readonly #deliveries: Deliveries;

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries;
  }

  get count(): number {
    return this.#open.size;
  }

  /** The address of a new socket; good once. */
  ticket(root: string): string {
    const ticket = randomUUID();
    this.#tickets.add(ticket);
    return `${root.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=simulated`;
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? '/', 'http://simulator').searchParams.get('ticket') ?? '';
    if (!this.#tickets.delete(ticket)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#greet(opened));
  }

  carry({ kind, payload, retry }: Delivery, id: string): boolean {
    const socket = [...this.#open].filter((each) => each.readyState === each.OPEN).at(this.prefer === 'newest' ? -1 : 0);
    if (socket === undefined) return false;
    const retried = kind === 'events_api' ? { retry_attempt: retry, retry_reason: retry === 0 ? '' : 'timeout' } : {};
    socket.send(JSON.stringify({ envelope_id: id, type: kind, payload, accepts_response_payload: kind !== 'events_api', ...retried }));
    return true;
  }

  /** Says something to every socket that no protocol foresees. */
  say(words: string): void {
    for (const socket of this.#open) socket.send(words);
  }

  /** Announces the end of the sockets that are open now. */
  announceEnd(reason: string): void {
    this.say(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'simulated' } }));
  }

  /** Breaks the sockets that are open, or only the oldest of them. */
  cut(which: 'all' | 'oldest' = 'all'): void {
    for (const socket of which === 'all' ? [...this.#open] : [...this.#open].slice(0, 1)) socket.terminate();
  }

  /** The sockets stay open, and nothing comes out of them any more. */
  mute(): void {
    for (const socket of this.#open) this.#mute.add(socket);
  }

  ping(): void {
    for (const socket of this.#open) if (!this.#mute.has(socket)) socket.ping();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #greet(socket: WebSocket): void {
    this.opened += 1;
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('ping', (data) => this.#mute.has(socket) || socket.pong(data));
    socket.on('message', (data) => {
      const id = text(record(parseJson(data.toString()))?.['envelope_id']);
      if (id !== undefined) this.#deliveries.confirm(id);
    });
    socket.send(JSON.stringify({ type: 'hello', num_connections: this.#open.size, debug_info: { host: 'simulated', approximate_connection_time: 18060 }, connection_info: { app_id: 'A00FAKEAPP01' } }));
    this.#deliveries.flush();
  }
}
