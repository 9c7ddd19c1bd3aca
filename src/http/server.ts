import { once } from 'node:events';
import { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { WebSocketServerLike } from '@hono/node-server';
import type { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import { ConfigError } from '../core/errors.ts';
import { isLoopbackName } from './client.ts';
import type { HttpEnv } from './client.ts';
import type { HttpOptions } from './options.ts';

export interface RunningHttp {
  /** Where a browser on this machine finds the page, without a slash at the end. */
  readonly url: string;
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
  readonly closeMs: number;
}

const patience: Patience = { headersMs: 10_000, requestMs: 300_000, keepAliveMs: 5_000, stallMs: 60_000, closeMs: 2_000 };

const maxConnections = 1000;

/** Whoever takes messages over a socket checks their size; this much may arrive at all. */
const maxMessageBytes = 64 * 1024 * 1024;

const goingAway = 1001;

const listenError = (error: NodeJS.ErrnoException, options: HttpOptions): unknown => {
  const where = `Port ${options.port} on ${options.host}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(`${where} is in use, perhaps by another gateway. Stop that one, or set http.port to another number.`, { cause: error });
    case 'EACCES':
      return new ConfigError(`${where} may not be opened by this user. Set http.port to a number above 1023.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ConfigError(`${options.host} is not an address of this machine. Set http.host to 127.0.0.1 or to one that is.`, { cause: error });
    default:
      return error;
  }
};

/** Refuses to listen beyond this machine without a credential. */
export const checkExposure = (options: HttpOptions): void => {
  if (isLoopbackName(options.host) || options.token !== undefined) return;
  throw new ConfigError(`http.host is ${options.host}, which others can reach. Set http.token (or HERMES_HTTP_TOKEN) to at least 16 characters, or http.host to 127.0.0.1.`);
};

const addressOf = (server: Server, host: string): string => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
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

export const startHttp = async (deps: { readonly options: HttpOptions; readonly app: Hono<HttpEnv>; readonly patience?: Partial<Patience> }): Promise<RunningHttp> => {
  const { options } = deps;
  const limits = { ...patience, ...deps.patience };
  checkExposure(options);
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
  server.listen(options.port, options.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, options);
  }
  return {
    url: addressOf(server, options.host),
    async close() {
      const closed = once(server, 'close');
      server.close();
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
