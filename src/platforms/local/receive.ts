import type { Socket } from 'node:net';
import { PlatformError } from '../../core/errors.ts';
import { slept } from '../../lib/clock.ts';
import type { Inbox } from '../contract.ts';
import { Connection } from './connection.ts';
import type { ConnectionDeps } from './connection.ts';
import { listenAt } from './listen.ts';
import type { SocketPlace } from './socket-place.ts';

const checkEveryMs = 15_000;
const maxTerminals = 64;
/** Terminals that do not hang up by themselves are cut off. */
const farewellMs = 300;

/** Serves terminals until aborted. Rejects when they can no longer find us. */
export const serveTerminals = async (deps: ConnectionDeps, place: SocketPlace, run: { readonly inbox: Inbox; readonly signal: AbortSignal }): Promise<void> => {
  const { inbox, signal } = run;
  const open = new Map<Connection, { readonly socket: Socket; readonly served: Promise<void> }>();
  const welcome = (socket: Socket): void => {
    // What goes wrong with a connection ends it, and is handled where it is read.
    socket.on('error', (error) => deps.log.debug({ err: error }, 'local.socket_failed'));
    const connection = new Connection(deps, inbox, socket);
    if (open.size >= maxTerminals) {
      connection.leave('full', `${maxTerminals} terminals are attached already`);
      return;
    }
    open.set(connection, { socket, served: connection.serve().finally(() => open.delete(connection)) });
  };
  await deps.seen.prune();
  await using listening = await listenAt(place, welcome);
  try {
    do {
      if (!(await listening.isThere())) throw new PlatformError('unavailable', `the socket ${listening.path} was removed`);
      inbox.alive();
    } while (await slept(deps.clock, checkEveryMs, signal));
  } finally {
    // First of all, or a terminal that is sent away would come back to us instead of the next gateway.
    listening.refuse();
    for (const connection of open.keys()) connection.leave('stopping', 'the gateway is stopping');
    const hungUp = new AbortController();
    void Promise.all([...open.values()].map(({ served }) => served)).then(() => hungUp.abort());
    await slept(deps.clock, farewellMs, hungUp.signal);
    for (const { socket } of open.values()) socket.destroy();
  }
};
