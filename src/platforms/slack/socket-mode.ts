import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { slept } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Inbox } from '../contract.ts';
import type { SlackApi } from './api.ts';
import { openSocket } from './socket.ts';
import type { Envelope, OpenWebSocket, SlackSocket } from './socket.ts';
import type { PayloadKind, Taker } from './take.ts';
import { text } from './wire.ts';

export interface SocketMode {
  /** With the app's own token. */
  readonly app: SlackApi;
  readonly open: OpenWebSocket;
  readonly clock: Clock;
  readonly log: Logger;
  readonly inbox: Inbox;
  readonly taker: Taker;
  /** Called with the first hello, before anything is taken. */
  onOpen(): void;
}

/** How long a socket that Slack is about to close may still deliver what is on its way. */
const farewellMs = 10_000;

const kinds: ReadonlySet<string> = new Set<PayloadKind>(['events_api', 'interactive', 'slash_commands']);
const isKind = (type: string): type is PayloadKind => kinds.has(type);

/** Acknowledges what is stored. What could not be is left, and comes again. */
const receive = async ({ taker, log }: SocketMode, { type, payload, retry, acknowledge }: Envelope): Promise<void> => {
  if (retry > 0) log.debug({ type, retry }, 'slack.envelope.repeated');
  try {
    if (isKind(type)) await taker.take(type, payload);
    else log.info({ kind: type, reason: 'unknown envelope' }, 'slack.event.skipped');
    acknowledge();
  } catch (error) {
    log.error({ err: error, type }, 'slack.envelope.not_stored');
  }
};

const connect = async (mode: SocketMode, onHello: () => void, signal: AbortSignal): Promise<SlackSocket> => {
  const url = text((await mode.app.repeatable('apps.connections.open', {}, signal))['url']);
  if (url === undefined || !/^wss?:/.test(url)) throw new PlatformError('unavailable', 'apps.connections.open: the answer has no address');
  return openSocket(url, { open: mode.open, clock: mode.clock, onHello, onAlive: () => mode.inbox.alive(), onEnvelope: (envelope) => void receive(mode, envelope) }, signal);
};

/** Receives by sockets until aborted: the next one is open before the one that Slack wants to end is let go. Rejects when one ends by itself. */
export const receiveBySocket = async (mode: SocketMode, signal: AbortSignal): Promise<never> => {
  let current = await connect(mode, () => mode.onOpen(), signal);
  for (;;) {
    await current.outlived;
    const next = await connect(mode, () => undefined, signal);
    const former = current;
    current = next;
    mode.log.debug({}, 'slack.socket.renewed');
    void slept(mode.clock, farewellMs, signal).then(() => former.close());
  }
};
