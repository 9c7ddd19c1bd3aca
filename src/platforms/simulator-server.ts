import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface SimulatorServer extends AsyncDisposable {
  readonly port: number;
  /** Refuses connections and breaks those there are. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
}

export interface SimulatorHandlers {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Breaks connections that are no longer the server's. */
  cut?(): void;
  /** A mistake of the simulator, or a client that left in the middle of a request. */
  onError?(error: unknown): void;
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

/** A simulated platform on a port of the loopback interface. */
export const startSimulatorServer = async (handlers: SimulatorHandlers, wantedPort: number): Promise<SimulatorServer> => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    handlers.handle(request, response).catch((error: unknown) => {
      handlers.onError?.(error);
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) => (handlers.upgrade === undefined ? socket.destroy() : handlers.upgrade(request, socket, head)));
  const port = await listen(server, wantedPort);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      handlers.cut?.();
      server.closeAllConnections();
    });
  return { port, goOffline: stop, goOnline: async () => void (await listen(server, port)), [Symbol.asyncDispose]: stop };
};
