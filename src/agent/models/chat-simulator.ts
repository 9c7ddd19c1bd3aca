import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SimulatedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> & { readonly messages: readonly Readonly<Record<string, unknown>>[] };
  /** Numbered by connection: equal numbers mean that a connection was used again. */
  readonly connection: number;
}

/** How the server answers one call. */
export type Answer = (response: ServerResponse, request: SimulatedRequest) => void | Promise<void>;

/** An endpoint that speaks chat completions over real HTTP and answers as it is told, faults and all. */
export interface ChatSimulator extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly SimulatedRequest[];
  /** Answers for the next calls, one each. A call without one gets status 599, or the answer given to `otherwise`. */
  next(...answers: Answer[]): void;
  otherwise(answer: Answer): void;
}

const readBody = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));

export const newChatSimulator = async (): Promise<ChatSimulator> => {
  const requests: SimulatedRequest[] = [];
  const answers: Answer[] = [];
  const connections = new WeakMap<object, number>();
  let connected = 0;
  let fallback: Answer | undefined;
  const server = createServer(async (incoming, response) => {
    // Only calls are of interest; who asks for the list of models learns that there is none.
    if (incoming.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(await readBody(incoming)) as SimulatedRequest['body'];
    const request = { path: incoming.url ?? '', headers: incoming.headers, body, connection: connections.get(incoming.socket) ?? 0 };
    requests.push(request);
    const answer = answers.shift() ?? fallback;
    if (answer === undefined) response.writeHead(599).end('nothing was scripted');
    else await answer(response, request);
  });
  server.on('connection', (socket) => connections.set(socket, (connected += 1)));
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    next: (...more) => void answers.push(...more),
    otherwise: (answer) => {
      fallback = answer;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const sseHead = { 'content-type': 'text/event-stream; charset=utf-8' };

export const chunkOf = (delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): Readonly<Record<string, unknown>> => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'sim-1',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});

export const usageChunk = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'sim-1',
  choices: [],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 7 },
  },
};

/** Chunks as events, then `[DONE]`. */
export const chunks =
  (...list: readonly unknown[]): Answer =>
  (response) => {
    response.writeHead(200, sseHead);
    for (const chunk of list) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };

/** A complete answer in words, one event each. */
export const says = (text: string, finishReason = 'stop'): Answer =>
  chunks(chunkOf({ role: 'assistant', content: '' }), ...(text.match(/\S+\s*/g) ?? []).map((content) => chunkOf({ content })), chunkOf({}, finishReason), usageChunk);

/** An answer that calls tools. */
export const calls = (...list: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]): Answer =>
  chunks(
    ...list.map((call, index) => chunkOf({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }] })),
    chunkOf({}, 'tool_calls'),
    usageChunk,
  );

/** Raw bytes in the given pieces, each written on its own; then the end, silence on an open connection, or a broken one. */
export const raw =
  (pieces: readonly (string | Uint8Array)[], options: { readonly type?: string; readonly then?: 'end' | 'silence' | 'cut' } = {}): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': options.type ?? 'text/event-stream' });
    response.flushHeaders();
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if ((options.then ?? 'end') === 'end') response.end();
    if (options.then === 'cut') setTimeout(() => response.destroy(), 10);
  };

/** Accepts the call and never says a word. */
export const silence: Answer = () => undefined;

export const status =
  (code: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(code, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json', ...headers }).end(text);
  };

export const json = (body: unknown): Answer => status(200, body);
