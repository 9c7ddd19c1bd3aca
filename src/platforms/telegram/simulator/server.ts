import type { IncomingMessage, ServerResponse } from 'node:http';
import { courseAfter } from '../../simulator-faults.ts';
import type { Course, Faults } from '../../simulator-faults.ts';
import { startSimulatorServer } from '../../simulator-server.ts';
import type { SimulatorServer } from '../../simulator-server.ts';
import type { Fault } from '../../simulator.ts';
import type { Json } from '../wire.ts';
import { classOf } from './call-class.ts';
import { methods } from './methods.ts';
import { badRequest, Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';
import type { CallBody } from './request-body.ts';
import { isMethod, validate } from './validation.ts';
import type { World } from './world.ts';

/** One call that the simulator got, and what it answered (0 while, or because, it did not). */
export interface CallRecord {
  readonly method: string;
  readonly params: Json;
  readonly atMs: number;
  status: number;
}

export interface ServerContext {
  readonly token: string;
  readonly world: World;
  readonly faults: Faults;
  readonly log: CallRecord[];
  readonly violations: string[];
  /** Told about each call as it comes in, before it has an effect. */
  onCall?: (call: CallRecord) => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly entry: CallRecord;
}

/** The newest calls are kept; a benchmark makes more than anybody reads. */
const logLimit = 50_000;

const answer = ({ response, entry }: Pick<Exchange, 'response' | 'entry'>, status: number, body: string | Uint8Array, type = 'application/json'): void => {
  entry.status = status;
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
};

const answerRefusal = (exchange: Exchange, { status, message, parameters }: Refusal): void =>
  answer(exchange, status, JSON.stringify({ ok: false, error_code: status, description: message, ...(parameters !== undefined && { parameters }) }));

const usualDescriptions: Readonly<Record<number, string>> = {
  400: 'Bad Request: scripted',
  401: 'Unauthorized',
  403: 'Forbidden: bot was blocked by the user',
  404: 'Not Found',
  409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  413: 'Request Entity Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
};

const met = (fault: Fault | undefined, exchange: Exchange, { clock }: World): Promise<Course> =>
  courseAfter(fault, {
    clock,
    refuse: ({ status, description }) => answerRefusal(exchange, new Refusal(status, description ?? usualDescriptions[status] ?? 'Scripted')),
    limit(retryAfterMs) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      answerRefusal(exchange, new Refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }));
    },
    garbage: () => answer(exchange, 200, '<html>not the Bot API</html>', 'text/html'),
    breakOff: () => void exchange.request.socket.resetAndDestroy(),
  });

const pollUpdates = async (context: ServerContext, exchange: Exchange, params: Json): Promise<unknown> => {
  const { world, faults } = context;
  if (world.webhook.url !== '') throw new Refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first");
  const gone = new AbortController();
  exchange.response.once('close', () => gone.abort());
  const request = { offset: Number(params['offset'] ?? 0), limit: Number(params['limit'] ?? 100), timeoutMs: Number(params['timeout'] ?? 0) * 1000, gone: gone.signal };
  for (;;) {
    const updates = await world.updates.poll(request);
    if (updates !== 'interrupted') return updates;
    const fault = faults.take('receive');
    const course = await met(fault, exchange, world);
    if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
    if (course !== 'go on') return undefined;
  }
};

const perform = (context: ServerContext, exchange: Exchange, body: CallBody): unknown => {
  const { world, violations } = context;
  const { method } = exchange;
  if (!isMethod(method)) {
    violations.push(`${method} does not exist or is not simulated`);
    throw new Refusal(404, 'Not Found: method not found');
  }
  const { params, problems } = validate(method, body);
  if (problems.length > 0) {
    violations.push(...problems);
    throw badRequest(problems[0] ?? '');
  }
  if (method === 'getUpdates') return pollUpdates(context, exchange, params);
  return methods[method]?.({ world, params, files: body.files });
};

const call = async (context: ServerContext, exchange: Exchange, body: CallBody): Promise<void> => {
  const fault = context.faults.take(classOf(exchange.method));
  const course = await met(fault, exchange, context.world);
  if (course === 'over') return;
  try {
    const result = await perform(context, exchange, body);
    if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
    else if (result !== undefined) answer(exchange, 200, JSON.stringify({ ok: true, result }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answerRefusal(exchange, error);
  }
};

const download = async (context: ServerContext, exchange: Exchange, path: string): Promise<void> => {
  const fault = context.faults.take('download');
  const course = await met(fault, exchange, context.world);
  if (course === 'over') return;
  const file = context.world.files.get(path.split('/').at(-1) ?? '');
  if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
  else if (file === undefined) answerRefusal(exchange, new Refusal(404, 'Not Found'));
  else answer(exchange, 200, file.bytes, 'application/octet-stream');
};

const route = /^\/(?<file>file\/)?bot(?<token>[^/]+)\/(?<rest>.+)$/;

const handle = async (context: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const { file, token = '', rest = '' } = route.exec(decodeURI(url.pathname))?.groups ?? {};
  const body = await readBody(request, url.searchParams);
  const entry: CallRecord = { method: file === undefined ? rest : 'download', params: body.params, atMs: context.world.clock.now(), status: 0 };
  context.log.push(entry);
  if (context.log.length > logLimit) context.log.splice(0, logLimit / 10);
  context.onCall?.(entry);
  const exchange = { request, response, method: rest, entry };
  if (token !== context.token) answerRefusal(exchange, /^\d+:[\w-]+$/.test(token) ? new Refusal(401, 'Unauthorized') : new Refusal(404, 'Not Found'));
  else if (file === undefined) await call(context, exchange, body);
  else await download(context, exchange, rest);
};

/** The Bot API over HTTP on a port of the loopback interface. */
export const startServer = (context: ServerContext, wantedPort: number): Promise<SimulatorServer> => startSimulatorServer({ handle: (request, response) => handle(context, request, response) }, wantedPort);
