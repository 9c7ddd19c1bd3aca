import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../../lib/clock.ts';
import { courseAfter } from '../../simulator-faults.ts';
import type { Course, Faults } from '../../simulator-faults.ts';
import { startSimulatorServer } from '../../simulator-server.ts';
import type { SimulatorServer } from '../../simulator-server.ts';
import type { Fault } from '../../simulator.ts';
import { record } from '../wire.ts';
import type { Json } from '../wire.ts';
import { classOf } from './call-class.ts';
import { notFound, Refusal } from './refusal.ts';
import { logIn, respond } from './routes.ts';
import { hasNews, positionOf, syncAnswer } from './sync-answer.ts';
import type { Device, World } from './world.ts';

/** One call that the homeserver got. */
export interface CallRecord {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Json;
}

export interface ServerContext {
  readonly world: World;
  readonly faults: Faults;
  readonly log: CallRecord[];
  /** Answers every sync at once and with nothing, whatever has happened. */
  deaf: boolean;
  /** Ends waiting polls, so that a fault takes effect at once. */
  readonly interrupts: Set<() => void>;
  /** A device asks from this position on. */
  onSince?: (device: Device, position: number) => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly bytes: Buffer;
}

const answer = ({ response }: Pick<Exchange, 'response'>, status: number, body: string | Uint8Array, type = 'application/json'): void => {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'access-control-allow-origin': '*' });
  response.end(body);
};

const answerRefusal = (exchange: Exchange, { status, body }: Refusal): void => answer(exchange, status, JSON.stringify(body));

const usual: Readonly<Record<number, string>> = { 401: 'M_UNKNOWN_TOKEN', 403: 'M_FORBIDDEN', 404: 'M_NOT_FOUND', 413: 'M_TOO_LARGE' };

const met = (fault: Fault | undefined, exchange: Exchange): Promise<Course> =>
  courseAfter(fault, {
    clock: systemClock,
    refuse: ({ status, description }) => answerRefusal(exchange, new Refusal(status, usual[status] ?? 'M_UNKNOWN', description ?? 'Scripted')),
    limit: (retryAfterMs) => answerRefusal(exchange, new Refusal(429, 'M_LIMIT_EXCEEDED', 'Too Many Requests', { retry_after_ms: retryAfterMs })),
    garbage: () => answer(exchange, 200, '<html>not a homeserver</html>', 'text/html'),
    breakOff: () => void exchange.request.socket.resetAndDestroy(),
  });

const filterOf = (world: World, value: string | null): Json => {
  if (value === null) return {};
  return value.startsWith('{') ? (record(JSON.parse(value)) ?? {}) : (world.filters.get(value) ?? {});
};

/** Resolves when something changed, when it is time, or when the client has left. */
const change = (context: ServerContext, exchange: Exchange, forMs: number): Promise<'changed' | 'interrupted' | 'over'> =>
  new Promise((resolve) => {
    const end = (why: 'changed' | 'interrupted' | 'over'): void => {
      context.world.watchers.delete(changed);
      context.interrupts.delete(interrupted);
      exchange.response.off('close', left);
      clearTimeout(timer);
      resolve(why);
    };
    // One turn of the event loop later, so that what happens together is told together.
    const changed = (): void => void setImmediate(() => end('changed'));
    const interrupted = (): void => end('interrupted');
    const left = (): void => end('over');
    const timer = setTimeout(left, forMs);
    context.world.watchers.add(changed);
    context.interrupts.add(interrupted);
    exchange.response.on('close', left);
  });

const sync = async (context: ServerContext, exchange: Exchange, device: Device): Promise<Json | undefined> => {
  const { world, faults } = context;
  const sinceToken = exchange.query.get('since');
  const since = positionOf(sinceToken);
  if (sinceToken !== null) context.onSince?.(device, since);
  const request = { device, since, isInitial: sinceToken === null, filter: filterOf(world, exchange.query.get('filter')) };
  const untilMs = performance.now() + Number(exchange.query.get('timeout') ?? 0);
  if (context.deaf) {
    await systemClock.sleep(5);
    return { next_batch: sinceToken ?? 's1', rooms: {} };
  }
  for (;;) {
    const found = syncAnswer(world, request);
    const leftMs = untilMs - performance.now();
    if (request.isInitial || hasNews(found) || leftMs <= 0 || exchange.response.destroyed) return found;
    if ((await change(context, exchange, leftMs)) !== 'interrupted') continue;
    const fault = faults.take('receive');
    const course = await met(fault, exchange);
    if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
    if (course !== 'go on') return undefined;
  }
};

const upload = (world: World, { query, bytes, request }: Exchange): Json => {
  const id = randomUUID().replaceAll('-', '');
  world.files.set(id, { bytes: new Uint8Array(bytes), mime: request.headers['content-type'] ?? 'application/octet-stream', name: query.get('filename') ?? undefined });
  return { content_uri: `mxc://${world.server}/${id}` };
};

const download = (world: World, exchange: Exchange): boolean => {
  const [, server, id] = /^\/_matrix\/client\/v1\/media\/download\/([^/]+)\/([^/]+)/.exec(exchange.path) ?? [];
  if (server === undefined || id === undefined) return false;
  const file = server === world.server ? world.files.get(id) : undefined;
  if (file === undefined) throw notFound('Media');
  answer(exchange, 200, file.bytes, file.mime);
  return true;
};

const deviceOf = (world: World, { request, query }: Exchange): Device => {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? query.get('access_token');
  if (token === null) throw new Refusal(401, 'M_MISSING_TOKEN', 'Missing access token');
  const known = world.tokens.get(token);
  const device = known && world.users.get(known.userId)?.devices.get(known.deviceId);
  if (device === undefined) throw new Refusal(401, 'M_UNKNOWN_TOKEN', 'Invalid access token passed.', { soft_logout: world.ended.get(token)?.soft ?? false });
  return device;
};

/** Undefined when the call was answered already. */
const perform = async (context: ServerContext, exchange: Exchange): Promise<Json | undefined> => {
  const { world } = context;
  const { method, path, query, body } = exchange;
  if (path === '/_matrix/client/versions') return { versions: ['v1.1', 'v1.11', 'v1.13'], unstable_features: {} };
  if (/\/(?:v3|r0)\/login$/.test(path)) return method === 'GET' ? { flows: [{ type: 'm.login.password' }] } : logIn(world, body);
  const device = deviceOf(world, exchange);
  if (path.endsWith('/v3/sync')) return sync(context, exchange, device);
  if (path === '/_matrix/media/v3/upload' && method === 'POST') return upload(world, exchange);
  if (method === 'GET' && download(world, exchange)) return undefined;
  return respond({ world, device, method, path, query, body });
};

const call = async (context: ServerContext, exchange: Exchange): Promise<void> => {
  const fault = context.faults.take(classOf(exchange.method, exchange.path, exchange.body));
  const course = await met(fault, exchange);
  if (course === 'over') return;
  try {
    const result = await perform(context, exchange);
    if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
    else if (result !== undefined) answer(exchange, 200, JSON.stringify(result));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answerRefusal(exchange, error);
  }
};

const bodyOf = (request: IncomingMessage, bytes: Buffer): Json => {
  // Some clients do not say that what they send is JSON.
  const isJson = bytes[0] === '{'.charCodeAt(0) && !(request.url ?? '').startsWith('/_matrix/media');
  return isJson ? (record(JSON.parse(bytes.toString('utf8'))) ?? {}) : {};
};

const handle = async (context: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const bytes = await buffer(request);
  const body = bodyOf(request, bytes);
  const exchange = { request, response, method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body, bytes };
  context.log.push({ method: exchange.method, path: decodeURIComponent(url.pathname), query: Object.fromEntries(url.searchParams), body });
  await call(context, exchange);
};

/** The client-server API over HTTP on a port of the loopback interface. */
export const startServer = (context: ServerContext, wantedPort: number): Promise<SimulatorServer> => startSimulatorServer({ handle: (request, response) => handle(context, request, response) }, wantedPort);
