import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { record } from './wire.ts';
import type { Json } from './wire.ts';

/** How far a failed call got. Only `connecting` proves that Telegram never saw it. */
export type Phase = 'connecting' | 'sent' | 'answered';

/** A call without a usable answer. The message never holds the address, because the address holds the token. */
export class TransportError extends Error {
  readonly phase: Phase;
  readonly code: string | undefined;

  constructor(phase: Phase, reason: string, code?: string) {
    super(code === undefined ? reason : `${reason} (${code})`);
    this.name = 'TransportError';
    this.phase = phase;
    this.code = code;
  }
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
  readonly signal?: AbortSignal;
}

export interface Transport {
  /** What the Bot API says to a call, which may be that it refuses. Not `fetch`: this takes half the processor time, and knows how far a call got. */
  ask(url: string, call: Omit<Call, 'method'>): Promise<Json>;
  /** The answer before its body is read. */
  open(url: string, call: Call): Promise<IncomingMessage>;
}

/** Shorter than any server keeps an idle connection, so that we do not write into one that is being closed. */
const idleConnectionMs = 15_000;

const codeOf = (error: Error): string | undefined => ('code' in error && typeof error.code === 'string' ? error.code : undefined);

const parseAnswer = (body: string, status: number): Json => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new TransportError('answered', `HTTP ${status} with a body that is not JSON`);
  }
  const answer = record(value);
  if (typeof answer?.['ok'] !== 'boolean') throw new TransportError('answered', `HTTP ${status} with a body that is not a Bot API answer`);
  return answer;
};

/** Not by `node:stream/consumers`: that is an iterator and its promises for what comes in one piece. */
const readText = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const cut = (error?: Error): void => reject(new TransportError('sent', 'the answer was cut', error === undefined ? undefined : codeOf(error)));
    response.setEncoding('utf8');
    response.on('data', (piece: string) => (text += piece));
    response.once('end', () => resolve(text));
    response.once('error', cut);
    response.once('close', cut);
  });

const readAnswer = async (response: IncomingMessage): Promise<Json> => parseAnswer(await readText(response), response.statusCode ?? 0);

/** Through a proxy a connection is handed over when its handshake is already done. */
const isReady = (socket: Socket): boolean => (socket instanceof TLSSocket ? socket.getFinished() !== undefined : !socket.connecting);

export interface TransportOptions {
  readonly root: string;
  /** How long a call may go without a byte in either direction. */
  readonly silenceMs: number;
  readonly proxyUrl?: string | undefined;
}

/** Kept-alive connections to one root. */
export const newTransport = ({ root, silenceMs, proxyUrl }: TransportOptions): Transport => {
  const secure = root.startsWith('https:');
  const proxyEnv = proxyUrl === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } };
  const agentOptions = { keepAlive: true, timeout: idleConnectionMs, ...proxyEnv };
  const agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const request = secure ? httpsRequest : httpRequest;

  const open = (url: string, call: Call): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      let phase: Phase = 'connecting';
      const { body, signal } = call;
      const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
      const options: RequestOptions = { method: call.method ?? 'GET', headers: { ...call.headers, ...length }, agent, timeout: silenceMs };
      const outgoing = request(url, options, resolve);
      const abort = (): void => void outgoing.destroy(new TransportError(phase, 'aborted'));
      outgoing.on('socket', (socket) => {
        if (outgoing.reusedSocket || isReady(socket)) phase = 'sent';
        else socket.once(secure ? 'secureConnect' : 'connect', () => (phase = 'sent'));
      });
      outgoing.on('timeout', () => outgoing.destroy(new TransportError(phase, 'timed out')));
      outgoing.on('error', (error) => reject(error instanceof TransportError ? error : new TransportError(phase, 'connection failed', codeOf(error))));
      outgoing.on('close', () => signal?.removeEventListener('abort', abort));
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
      if (body === undefined || typeof body === 'string') {
        outgoing.end(body);
        return;
      }
      // A file that cannot be read is what went wrong, not the connection that ends with it.
      body.once('error', reject);
      pipeline(body, outgoing, () => undefined);
    });

  return { open, ask: async (url, call) => readAnswer(await open(url, { ...call, method: 'POST' })) };
};
