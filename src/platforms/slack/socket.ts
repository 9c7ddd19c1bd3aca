import type { RawData, WebSocket as Socket } from 'ws';
import { PlatformError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { slept } from '../../lib/clock.ts';
import { integer, parseJson, record, text } from './wire.ts';
import type { Json } from './wire.ts';

export type OpenWebSocket = (url: string) => Socket;

/** One thing that Slack wants to have acknowledged. */
export interface Envelope {
  readonly type: string;
  readonly payload: unknown;
  readonly retry: number;
  /** Does nothing when the socket is gone: then it comes again on the next one. */
  acknowledge(): void;
}

export interface SlackSocket {
  /** Resolves when Slack wants us on another socket soon. Rejects when this one has ended by itself. */
  readonly outlived: Promise<void>;
  close(): void;
}

export interface SocketDeps {
  readonly open: OpenWebSocket;
  readonly clock: Clock;
  /** Slack is there; called before anything else that it says. */
  onHello(): void;
  onEnvelope(envelope: Envelope): void;
  /** Something was heard. */
  onAlive(): void;
}

const pingEveryMs = 10_000;
/** Slack pings every few seconds and answers our pings: a socket without a sound is dead, whatever the network says. */
const deadAfterMs = 30_000;
const helloMs = 20_000;

const gone = (reason: string): PlatformError => new PlatformError('unavailable', `the socket ended: ${reason}`);

const endOf = (reason: string | undefined): PlatformError => {
  if (reason === 'link_disabled') return new PlatformError('bad_credential', 'Socket Mode is switched off for this app; switch it on in its settings');
  if (reason === 'too_many_websockets') return new PlatformError('conflict', 'too many sockets of this app are open; is another gateway using its token?');
  return gone(reason ?? 'without a reason');
};

/** Ends when the socket has not been heard for too long, or when told to. */
const watch = async (socket: Socket, { clock }: SocketDeps, heardAtMs: () => number, over: AbortSignal): Promise<PlatformError | undefined> => {
  while (await slept(clock, pingEveryMs, over)) {
    if (clock.now() - heardAtMs() > deadAfterMs) return gone('nothing was heard from it');
    if (socket.readyState === socket.OPEN) socket.ping();
  }
  return undefined;
};

const readEnvelope = (socket: Socket, message: Json): Envelope | undefined => {
  const id = text(message['envelope_id']);
  if (id === undefined) return undefined;
  return {
    type: text(message['type']) ?? '',
    payload: message['payload'],
    retry: integer(message['retry_attempt']) ?? 0,
    acknowledge() {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ envelope_id: id }));
    },
  };
};

/** Opens a socket at an address from `apps.connections.open`. Resolves when Slack has said hello. */
export const openSocket = (url: string, deps: SocketDeps, signal: AbortSignal): Promise<SlackSocket> => {
  const socket = deps.open(url);
  const over = new AbortController();
  const hello = Promise.withResolvers<SlackSocket>();
  const outlived = Promise.withResolvers<void>();
  outlived.promise.catch(() => undefined);
  let heardAtMs = deps.clock.now();
  let isWelcome = false;
  const close = (): void => {
    over.abort();
    signal.removeEventListener('abort', close);
    socket.terminate();
  };
  const fail = (error: PlatformError): void => {
    hello.reject(error);
    outlived.reject(error);
    close();
  };
  const heard = (): void => {
    heardAtMs = deps.clock.now();
    // Before its hello Slack sends nobody's messages here.
    if (isWelcome) deps.onAlive();
  };
  const receive = (data: RawData): void => {
    const message = record(parseJson(data.toString()));
    isWelcome ||= message?.['type'] === 'hello';
    heard();
    if (message?.['type'] === 'hello') {
      deps.onHello();
      hello.resolve({ outlived: outlived.promise, close });
    } else if (message?.['type'] === 'disconnect') {
      const reason = text(message['reason']);
      if (reason === 'warning' || reason === 'refresh_requested') outlived.resolve();
      else fail(endOf(reason));
    } else {
      const envelope = message === undefined ? undefined : readEnvelope(socket, message);
      if (envelope !== undefined) deps.onEnvelope(envelope);
    }
  };
  socket.on('message', receive);
  socket.on('ping', heard);
  socket.on('pong', heard);
  socket.on('error', (error) => fail(gone('code' in error ? String(error.code) : 'it broke')));
  socket.on('close', (code) => fail(gone(`closed (${code})`)));
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  void watch(socket, deps, () => heardAtMs, over.signal).then((error) => error !== undefined && fail(error));
  void slept(deps.clock, helloMs, over.signal).then((late) => late && hello.reject(gone('Slack did not say hello')));
  return hello.promise;
};
