import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { serveImap } from './imap-session.ts';
import type { ImapWorld } from './imap-client.ts';
import type { ImapSession } from './imap-session.ts';

export interface ImapSimulation extends AsyncDisposable {
  readonly port: number;
  sessions(): readonly ImapSession[];
}

export const startImap = async (world: ImapWorld, port: number): Promise<ImapSimulation> => {
  const sessions = new Set<ImapSession>();
  const server = createServer({ noDelay: true }, (socket) => {
    const session = serveImap(world, socket);
    sessions.add(session);
    socket.once('close', () => sessions.delete(session));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sessions: () => [...sessions],
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
