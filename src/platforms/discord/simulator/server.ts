import type { IncomingMessage, ServerResponse } from 'node:http';
import { courseAfter } from '../../simulator-faults.ts';
import type { Course, Faults } from '../../simulator-faults.ts';
import { startSimulatorServer } from '../../simulator-server.ts';
import type { SimulatorServer } from '../../simulator-server.ts';
import type { Fault } from '../../simulator.ts';
import type { Json } from '../wire.ts';
import type { SimulatedGateway } from './gateway.ts';
import type { Printer } from './printing.ts';
import { Refusal } from './refusal.ts';
import { readBody } from './request-body.ts';
import { routes } from './routes.ts';
import type { World } from './world.ts';

/** One call that the simulator got, and what it answered (0 while, or because, it did not). */
export interface CallRecord {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
  readonly files: number;
  status: number;
}

/** A limit that a test has put on a channel, or on everything. */
export interface Limits {
  readonly channels: Map<string, number>;
  global: number;
  /** By method and channel, as in `POST 7`: answers say that nothing is left, and for how many seconds. */
  readonly exhausted: Map<string, number>;
}

export interface ServerContext {
  readonly token: string;
  readonly world: World;
  readonly faults: Faults;
  readonly gateway: SimulatedGateway;
  readonly printer: Printer;
  readonly log: CallRecord[];
  readonly limits: Limits;
  readonly violations: string[];
  /** Calls that are being answered, and the most there ever were. */
  readonly load: { now: number; most: number };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly entry: CallRecord;
}

const logLimit = 50_000;
const root = '/api/v10';

const answer = ({ response, entry }: Pick<Exchange, 'response' | 'entry'>, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
  entry.status = status;
  if (response.destroyed) return;
  if (body === undefined) {
    response.writeHead(status, headers);
    response.end();
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers });
  response.end(text);
};

const refuse = (exchange: Exchange, { status, code, message, more }: Refusal): void => answer(exchange, status, { message, code, ...more });

const limit = (exchange: Exchange, seconds: number, global: boolean): void =>
  answer(exchange, 429, { message: 'You are being rate limited.', retry_after: seconds, global }, { 'retry-after': String(Math.ceil(seconds)), 'x-ratelimit-scope': global ? 'global' : 'user' });

const met = (fault: Fault | undefined, exchange: Exchange, { clock }: World): Promise<Course> =>
  courseAfter(fault, {
    clock,
    refuse: ({ status, description }) => refuse(exchange, new Refusal(status, 0, description ?? 'Scripted')),
    limit: (retryAfterMs) => limit(exchange, retryAfterMs / 1000, false),
    garbage() {
      exchange.response.writeHead(200, { 'content-type': 'text/html' });
      exchange.response.end('<html>not the API</html>');
    },
    breakOff: () => void exchange.request.socket.resetAndDestroy(),
  });

const isLimited = ({ limits }: ServerContext, exchange: Exchange): boolean => {
  const channel = /^\/channels\/(\d+)/.exec(exchange.path)?.[1] ?? '';
  const seconds = limits.global > 0 ? limits.global : limits.channels.get(channel);
  if (seconds === undefined) return false;
  limit(exchange, seconds, limits.global > 0);
  return true;
};

const limitHeaders = ({ limits }: ServerContext, { path, entry }: Exchange): Readonly<Record<string, string>> => {
  const channel = /^\/channels\/(\d+)/.exec(path)?.[1] ?? '';
  const seconds = limits.exhausted.get(`${entry.method} ${channel}`);
  return { 'x-ratelimit-bucket': path.includes('/reactions/') ? 'reactions' : `bucket-${entry.method}`, 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': seconds === undefined ? '4' : '0', 'x-ratelimit-reset-after': String(seconds ?? 1) };
};

const download = async (context: ServerContext, exchange: Exchange): Promise<void> => {
  const fault = context.faults.take('download');
  if ((await met(fault, exchange, context.world)) !== 'go on') return;
  const file = context.world.files.get(exchange.path.split('/')[3] ?? '');
  if (file === undefined) return refuse(exchange, new Refusal(404, 0, 'Not Found'));
  exchange.entry.status = 200;
  exchange.response.writeHead(200, { 'content-type': file.mime, 'content-length': file.bytes.byteLength });
  exchange.response.end(file.bytes);
};

const serve = async (context: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const isFile = url.pathname.startsWith('/attachments/');
  const path = isFile ? url.pathname : url.pathname.slice(root.length).replaceAll('%40', '@');
  const body = await readBody(request);
  const entry: CallRecord = { method: request.method ?? '', path, body: body.fields, files: body.files.size, status: 0 };
  context.log.push(entry);
  if (context.log.length > logLimit) context.log.shift();
  const exchange: Exchange = { request, response, path, entry };
  if (isFile) return download(context, exchange);
  const found = routes.map((route) => ({ route, match: route.method === entry.method ? route.path.exec(path) : null })).find(({ match }) => match !== null);
  if (found?.match == null) {
    context.violations.push(`${entry.method} ${path} does not exist or is not simulated`);
    return refuse(exchange, new Refusal(404, 0, '404: Not Found'));
  }
  const { route, match } = found;
  const fault = route.what === undefined ? undefined : context.faults.take(route.what);
  const outcome = await met(fault, exchange, context.world);
  if (outcome === 'over') return;
  if (route.open !== true && request.headers.authorization !== `Bot ${context.token}`) return refuse(exchange, new Refusal(401, 0, '401: Unauthorized'));
  if (isLimited(context, exchange)) return;
  try {
    const result = route.run({ world: context.world, gateway: context.gateway, printer: context.printer, socketUrl: `ws://${request.headers.host ?? ''}/gateway`, body, query: url.searchParams, params: match.slice(1) });
    if (outcome === 'lose answer') return void request.socket.resetAndDestroy();
    answer(exchange, result === undefined ? 204 : 200, result, limitHeaders(context, exchange));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(exchange, error);
  }
};

/** Discord on a port of the loopback interface: the API, files and the gateway's sockets. */
export const startServer = async (context: ServerContext, wantedPort: number): Promise<SimulatorServer> => {
  const { load, gateway, violations } = context;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    response.once('close', () => (load.now -= 1));
    await serve(context, request, response);
  };
  const server = await startSimulatorServer({ handle, upgrade: (request, socket, head) => gateway.upgrade(request, socket, head), cut: () => gateway.disconnect(), onError: (error) => void violations.push(`the simulator broke: ${String(error)}`) }, wantedPort);
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      gateway.close();
      await server[Symbol.asyncDispose]();
    },
  };
};
