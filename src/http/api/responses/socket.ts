import type { Context } from 'hono';
import type { WSContext } from 'hono/ws';
import { upgradeWebSocket } from '@hono/node-server';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { slept } from '../../../lib/clock.ts';
import type { HttpEnv } from '../../client.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../callers.ts';
import { checked } from '../read-body.ts';
import type { ApiRoute } from '../route.ts';
import type { Work } from '../work.ts';
import type { ResponsesDeps } from './ask.ts';
import { SocketTurns } from './socket-turns.ts';

export interface SocketDeps extends ResponsesDeps {
  /** Throws the refusal for a key that is dead by now. */
  identify(c: Context<HttpEnv>): Promise<Caller>;
  /** What happened that nobody expected, as the client is told. */
  unexpected(error: unknown): ApiError;
}

/** A connection is renewed now and then; clients know that. */
const lifeMs = 60 * 60_000;
const pingMs = 20_000;
const mostWaiting = 16;

const message = z.looseObject({ type: z.string() });

/** What a client is told that has to do with no answer, or in the place of one. */
const errorEvent = ({ status, body }: ApiError): string => JSON.stringify({ type: 'error', status, error: { ...body, code: body.code ?? body.type } });

const read = (text: string, maxBytes: number): z.output<typeof message> => {
  if (Buffer.byteLength(text) > maxBytes) throw new ApiError(413, 'The message is larger than api_server.max_body_mb allows.', { code: 'body_too_large' });
  try {
    return checked(message, JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ApiError(400, 'The message is not valid JSON.', { code: 'invalid_json', cause: error });
  }
};

/** One connection: messages of the client one after the other, each answered with its events. */
class ResponseSocket {
  readonly #deps: SocketDeps;
  readonly #c: Context<HttpEnv>;
  readonly #gone = new AbortController();
  readonly #turns: SocketTurns;
  #socket: WebSocket | undefined;
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  #cancel = new AbortController();

  constructor(deps: SocketDeps, c: Context<HttpEnv>) {
    this.#deps = deps;
    this.#c = c;
    // An answer ends with its connection, or when the client says so; what the settings keep goes on.
    const work: Work = {
      begin: async (context, caller) => {
        const job = await deps.work.begin(context, caller);
        const gone = deps.options.on_disconnect === 'cancel' ? [this.#gone.signal] : [];
        return { ...job, signal: AbortSignal.any([this.#cancel.signal, ...gone]) };
      },
    };
    this.#turns = new SocketTurns({ ...deps, work });
  }

  open(ws: WSContext): void {
    if (!(ws.raw instanceof WebSocket)) throw new TypeError('the server has made no socket of its own');
    this.#socket = ws.raw;
    void this.#keepAlive(ws.raw);
    void this.#endOfLife();
  }

  close(): void {
    this.#gone.abort();
  }

  take(data: unknown): void {
    if (typeof data !== 'string') return this.#refuse(new ApiError(400, 'Messages are JSON in text frames.', { code: 'invalid_type' }));
    try {
      const asked = read(data, this.#deps.options.max_body_mb * 1024 * 1024);
      if (asked.type === 'response.cancel') return this.#cancel.abort();
      if (asked.type !== 'response.create') throw new ApiError(400, `There is no message '${asked.type.slice(0, 60)}' here; response.create and response.cancel are.`, { code: 'invalid_value', param: 'type' });
      if (this.#waiting >= mostWaiting) throw new ApiError(429, 'Too many responses of this connection are waiting.', { code: 'rate_limit_exceeded', retryAfterMs: 5_000 });
      this.#waiting += 1;
      this.#work = this.#work.then(() => this.#answer(asked)).finally(() => (this.#waiting -= 1));
    } catch (error) {
      this.#fail(error);
    }
  }

  async #answer(asked: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#gone.signal.aborted) return;
    this.#cancel = new AbortController();
    try {
      // A key may have been revoked since the connection was opened.
      const caller = await this.#deps.identify(this.#c);
      if (!caller.scopes.includes('chat')) throw new ApiError(403, 'This key has no scope "chat".', { code: 'insufficient_scope' });
      for await (const event of this.#turns.answer(this.#c, caller, asked)) await this.#send(JSON.stringify(event));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#refuse(error instanceof ApiError ? error : this.#deps.unexpected(error));
  }

  #refuse(error: ApiError): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(errorEvent(error));
  }

  /** Resolves when the client has taken it, so that no more is made than it reads; also when it has gone away. */
  #send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text, () => resolve());
      else resolve();
    });
  }

  /** Who does not answer a ping until the next one is not there any more. */
  async #keepAlive(socket: WebSocket): Promise<void> {
    let isThere = true;
    socket.on('pong', () => (isThere = true));
    while (await slept(this.#deps.clock, pingMs, this.#gone.signal)) {
      if (!isThere) return socket.terminate();
      isThere = false;
      socket.ping();
    }
  }

  async #endOfLife(): Promise<void> {
    if (!(await slept(this.#deps.clock, lifeMs, this.#gone.signal))) return;
    await this.#work;
    this.#refuse(new ApiError(400, 'A connection lasts 60 minutes. Open a new one and go on.', { code: 'websocket_connection_limit_reached' }));
    this.#socket?.close(1000);
  }
}

/** `/v1/responses` over a WebSocket: one connection for many responses, each begun by a `response.create`. */
export const responseSocketRoute = (deps: SocketDeps): ApiRoute => ({
  name: 'responses_websocket',
  method: 'GET',
  path: '/v1/responses',
  scope: 'chat',
  async handle(c) {
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') throw new ApiError(405, 'Responses are made with POST, or over a WebSocket.', { code: 'method_not_allowed', headers: { allow: 'POST' } });
    deps.gate();
    const socket = new ResponseSocket(deps, c);
    const upgraded = await upgradeWebSocket(() => ({
      onOpen: (_event, ws) => socket.open(ws),
      onMessage: (event) => socket.take(event.data),
      onClose: () => socket.close(),
      onError: () => socket.close(),
    }))(c, async () => undefined);
    return upgraded ?? c.body(null, 500);
  },
});
