import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/** Goes on under TLS on a connection that has begun without. */
export const securing = (pair: { readonly key: string; readonly cert: string }): ((socket: Socket) => TLSSocket) => {
  const secureContext = createSecureContext(pair);
  return (socket) => new TLSSocket(socket, { isServer: true, secureContext });
};
