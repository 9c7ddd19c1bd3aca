import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../lib/clock.ts';
import { patientClock } from '../../../lib/patient-clock.test-support.ts';
import { somewhere } from '../../turn.test-support.ts';
import type { ToolContext } from '../contract.ts';
import { webSection } from './options.ts';
import type { WebOptions } from './options.ts';

export interface Site extends AsyncDisposable {
  readonly port: number;
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

/** A web server on loopback that answers as told. */
export const newSite = async (answer: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<Site> => {
  const requests: Site['requests'] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export const webOptions = (given: Record<string, unknown> = {}): WebOptions => webSection.schema.parse(given);

export const webContext = (clock: Clock = patientClock, sessionId = 's1'): ToolContext => ({
  sessionId,
  turnId: 't',
  callId: 'c',
  place: somewhere,
  clock,
  asyncDelivery: true,
  alive: () => undefined,
  ask: async () => ({ type: 'unattended' }),
});
