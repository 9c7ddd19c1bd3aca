import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** How far a failed call got. Only `connecting` proves that Discord never saw it. */
type Phase = 'connecting' | 'sent' | 'answered';

/** A call without a usable answer. */
export class TransportError extends Error {
  readonly phase: Phase;

  constructor(phase: Phase, reason: string, code?: string) {
    super(code === undefined ? reason : `${reason} (${code})`);
    this.name = 'TransportError';
    this.phase = phase;
  }
}

export interface HttpCall {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
  readonly signal: AbortSignal;
}

export interface Transport {
  /** The answer before its body is read. Fails with a `TransportError`. */
  open(url: string, call: HttpCall): Promise<IncomingMessage>;
  /** For the gateway's socket, so that it takes the same way. */
  agentFor(url: string): HttpAgent;
}

/** Shorter than servers keep an idle connection, so that we do not write into one that is being closed. */
const idleConnectionMs = 15_000;

const codeOf = (error: Error): string | undefined => ('code' in error && typeof error.code === 'string' ? error.code : undefined);

/** Through a proxy a connection is handed over when its handshake is already done. */
const isReady = (socket: Socket): boolean => (socket instanceof TLSSocket ? socket.getFinished() !== undefined : !socket.connecting);

export interface TransportOptions {
  /** How long a call may go without a byte in either direction. */
  readonly silenceMs: number;
  readonly proxyUrl?: string | undefined;
}

/** Kept-alive connections. */
export const newTransport = ({ silenceMs, proxyUrl }: TransportOptions): Transport => {
  const proxyEnv = proxyUrl === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } };
  const agentOptions = { keepAlive: true, timeout: idleConnectionMs, ...proxyEnv };
  const plain = new HttpAgent(agentOptions);
  const secure = new HttpsAgent(agentOptions);
  const isSecure = (url: string): boolean => /^(?:https|wss):/.test(url);

  const open = (url: string, { method, headers, body, signal }: HttpCall): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      let phase: Phase = 'connecting';
      const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
      const options: RequestOptions = { method, headers: { ...headers, ...length }, agent: isSecure(url) ? secure : plain, timeout: silenceMs };
      const outgoing = (isSecure(url) ? httpsRequest : httpRequest)(url, options, resolve);
      const abort = (): void => void outgoing.destroy(new TransportError(phase, 'aborted'));
      outgoing.on('socket', (socket) => {
        if (outgoing.reusedSocket || isReady(socket)) phase = 'sent';
        else socket.once(isSecure(url) ? 'secureConnect' : 'connect', () => (phase = 'sent'));
      });
      outgoing.on('timeout', () => outgoing.destroy(new TransportError(phase, 'timed out')));
      outgoing.on('error', (error) => reject(error instanceof TransportError ? error : new TransportError(phase, 'connection failed', codeOf(error))));
      outgoing.on('close', () => signal.removeEventListener('abort', abort));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      if (body === undefined || typeof body === 'string') outgoing.end(body);
      else
        pipeline(body, outgoing, (error) => {
          if (error) reject(error instanceof TransportError ? error : new TransportError(phase, 'the upload was cut', codeOf(error)));
        });
    });

  return { open, agentFor: (url) => (isSecure(url) ? secure : plain) };
};
