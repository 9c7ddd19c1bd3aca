import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

/** Waits on this machine for a browser that comes back from a login page. */
export interface LoginListener extends AsyncDisposable {
  readonly url: string;
  /** What the login server sent along. Rejects when aborted. */
  arrival(signal: AbortSignal): Promise<URLSearchParams>;
}

const page = '<!doctype html><meta charset="utf-8"><title>Hermes</title><p>Done. You can close this window and go back to the terminal.</p>';

/** Listens on loopback only; port 0 takes a free one. */
export const listenForLogin = async (port: number): Promise<LoginListener> => {
  const arrived = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    if (request.method !== 'GET' || url?.pathname !== '/callback') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(page);
    arrived.resolve(url.searchParams);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    arrival: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        void arrived.promise.then(resolve);
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
