import { createServer, request as ask } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One request of a client and what it was answered. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
}

export interface Recorder extends AsyncDisposable {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
}

/** A proxy on the loopback interface that passes everything on as it is and remembers it. */
export const startRecorder = async (target: string): Promise<Recorder> => {
  const exchanges: Exchange[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const body = await buffer(incoming);
    const passed = ask(`${target}${path}`, { method, headers: { ...headers, host: new URL(target).host } }, (answered) => {
      const pieces: Buffer[] = [];
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.on('data', (piece: Buffer) => {
        pieces.push(piece);
        outgoing.write(piece);
      });
      answered.once('end', () => {
        exchanges.push({ method, path, headers, body: body.toString(), status: answered.statusCode ?? 0, answer: Buffer.concat(pieces).toString() });
        outgoing.end();
      });
    });
    passed.once('error', () => outgoing.destroy());
    outgoing.once('close', () => passed.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
