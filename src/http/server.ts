import { once } from 'node:events';
import { Server } from 'node:http';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { WebSocketServerLike } from '@hono/node-server';
import type { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import { ConfigError } from '../core/errors.ts';
import { slept, systemClock } from '../lib/clock.ts';
import type { HttpEnv } from './client.ts';
import type { HttpOptions } from './options.ts';
import { reachableUrl } from './reachable-url.ts';

export interface RunningHttp {
  /** Where a browser on this machine finds the page, without a slash at the end. */
  readonly url: string;
  /** Takes no new connections, and ends each that is open after its present answer; resolves when what was asked is answered, or after a moment. */
  stopListening(): Promise<void>;
  /** Stops listening, gives open requests a moment, then cuts them. */
  close(): Promise<void>;
}

/** How long a client may take; tests shorten them. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** An answer of which the client has taken nothing for so long is cut off. */
  readonly stallMs: number;
  /** So long after it has stopped listening what was asked before is answered as if nothing had happened. */
  readonly answerMs: number;
  readonly closeMs: number;
}

const patience: Patience = { headersMs: 10_000, requestMs: 300_000, keepAliveMs: 5_000, stallMs: 60_000, answerMs: 500, closeMs: 2_000 };

const maxConnections = 1000;

/** Whoever takes messages over a socket checks their size; this much may arrive at all. */
const maxMessageBytes = 64 * 1024 * 1024;

const goingAway = 1001;

const listenError = (error: NodeJS.ErrnoException, options: HttpOptions): unknown => {
  const where = `Port ${options.port} on ${options.host}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(`${where} is in use, perhaps by another gateway. Stop that one, or set http.port to another number.`, { cause: error, mayPass: true });
    case 'EACCES':
      return new ConfigError(`${where} may not be opened by this user. Set http.port to a number above 1023.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError(`${options.host} is not an address of this machine. Set http.host to 127.0.0.1 or to one that is.`, { cause: error, mayPass: true });
    default:
      return error;
  }
};

/** A port that is opened to be shared opens although another program of this user shares it, too, and then calls would go to either. */
const checkFree = async ({ port, host }: HttpOptions): Promise<void> => {
  const server = createServer();
  await once(server.listen(port, host), 'listening');
  await new Promise((resolve) => server.close(resolve));
};

const quietMs = 20;
const longestQuietMs = 500;

/**
 * A connection that waits to be taken when its listener goes is lost, and Node takes one with each round of its loop. Resolves in a moment in which
 * none waits, if possible in one in which none comes.
 */
const untilQuiet = async (server: Server): Promise<void> => {
  let arrivedMs = performance.now();
  const note = (): void => void (arrivedMs = performance.now());
  server.on('connection', note);
  const untilMs = arrivedMs + longestQuietMs;
  while (performance.now() - arrivedMs < quietMs && performance.now() < untilMs) await systemClock.sleep(1);
  for (let lookedMs = 0; lookedMs < arrivedMs; ) {
    lookedMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', note);
};

const portOf = (server: Server): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

/** Cuts connections that are silent because of the client: it takes nothing of its answer, or asks for nothing. One that waits for us stays. */
const cutSilent = (server: Server, stallMs: number): void => {
  const answering = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, response) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    response.once('close', () => answering.set(socket, (answering.get(socket) ?? 1) - 1));
  });
  server.setTimeout(stallMs, (socket) => {
    if (socket.writableLength > 0 || (answering.get(socket) ?? 0) === 0) socket.destroy();
  });
};

export interface HttpServerDeps {
  readonly options: HttpOptions;
  readonly app: Hono<HttpEnv>;
  /** The next gateway of this home may listen at the same port, to take over; `beside`: the one before does so now. Only where `canSharePorts`. */
  readonly sharing?: 'nobody' | 'successor' | 'beside';
  readonly patience?: Partial<Patience>;
  /** A connection could not be taken, as when there are too many open files; the next one is tried all the same. */
  onError?(error: Error): void;
}

/** Whether two processes can listen at one port, and connections go to those that do. */
export const canSharePorts: boolean = process.platform === 'linux';

export const startHttp = async (deps: HttpServerDeps): Promise<RunningHttp> => {
  const { options } = deps;
  const limits = { ...patience, ...deps.patience };
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  const server = createAdaptorServer({
    fetch: deps.app.fetch,
    // Its own type says that an option may be undefined, which theirs does not.
    websocket: { server: sockets as WebSocketServerLike },
    overrideGlobalObjects: false,
    serverOptions: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(5_000, limits.headersMs),
      // Clients that would rather speak HTTP/2 say so in the same header; they are answered as if they had not.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
  });
  if (!(server instanceof Server)) throw new TypeError('the adaptor made no HTTP/1.1 server');
  server.maxConnections = maxConnections;
  cutSilent(server, limits.stallMs);
  const { sharing = 'nobody' } = deps;
  try {
    if (sharing === 'successor') await checkFree(options);
    await once(server.listen({ port: options.port, host: options.host, reusePort: sharing !== 'nobody' }), 'listening');
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, options);
  }
  server.on('error', (error) => deps.onError?.(error));
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  let isListening = true;
  const refuse = (): void => {
    if (!isListening) return;
    isListening = false;
    server.on('request', (_request, response) => (response.shouldKeepAlive = false));
    server.close();
  };
  return {
    url: reachableUrl(options.host, portOf(server)),
    async stopListening() {
      await untilQuiet(server);
      refuse();
      const late = new AbortController();
      await Promise.race([closed, slept(systemClock, limits.answerMs, late.signal)]);
      late.abort();
    },
    async close() {
      refuse();
      for (const socket of sockets.clients) socket.close(goingAway);
      const timer = setTimeout(() => {
        server.closeAllConnections();
        for (const socket of sockets.clients) socket.terminate();
      }, limits.closeMs);
      await closed;
      clearTimeout(timer);
    },
  };
};
