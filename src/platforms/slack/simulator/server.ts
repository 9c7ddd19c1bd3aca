import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { courseAfter } from '../../simulator-faults.ts';
import type { CallClass, Course, Faults } from '../../simulator-faults.ts';
import { startSimulatorServer } from '../../simulator-server.ts';
import type { SimulatorServer } from '../../simulator-server.ts';
import type { Fault } from '../../simulator.ts';
import { parseJson, record, records, text } from '../wire.ts';
import type { Json } from '../wire.ts';
import { classOf } from './call-class.ts';
import { methods, problemsOf } from './methods.ts';
import { post, readBlocks } from './posting.ts';
import { Refusal } from './refusal.ts';
import type { Sockets } from './sockets.ts';
import type { SimulatedTeam, World } from './world.ts';

/** One call that the simulator got, and what it answered (0 while, or because, it did not). */
export interface CallRecord {
  readonly method: string;
  readonly args: Readonly<Record<string, string>>;
  readonly atMs: number;
  status: number;
}

export interface ServerContext {
  readonly world: World;
  readonly faults: Faults;
  readonly sockets: Sockets;
  readonly log: CallRecord[];
  readonly violations: string[];
  /** The first calls of a method that are refused, and with what. */
  readonly refusals: Map<string, Refusal>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: CallRecord;
  readonly root: string;
}

const answer = ({ response, entry }: Exchange, status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): void => {
  entry.status = status;
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
};

const answerRefusal = (exchange: Exchange, { error, more, retryAfterMs }: Refusal): void => {
  const limited = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  answer(exchange, retryAfterMs === undefined ? 200 : 429, JSON.stringify({ ok: false, error, ...more }), limited);
};

const met = (fault: Fault | undefined, exchange: Exchange, { clock }: World): Promise<Course> =>
  courseAfter(fault, {
    clock,
    refuse({ status, description }) {
      if (status === 401) answerRefusal(exchange, new Refusal('invalid_auth'));
      else if (description !== undefined) answer(exchange, status, JSON.stringify({ ok: false, error: description }));
      else answer(exchange, status, 'Scripted', { 'content-type': 'text/plain' });
    },
    limit: (retryAfterMs) => answerRefusal(exchange, new Refusal('ratelimited', {}, retryAfterMs)),
    garbage: () => answer(exchange, 200, '<html>not Slack</html>', { 'content-type': 'text/html' }),
    breakOff: () => void exchange.request.socket.resetAndDestroy(),
  });

/** Runs what was asked for, with whatever was planned to go wrong. */
const guarded = async (context: ServerContext, exchange: Exchange, what: CallClass | undefined, run: () => Json | undefined): Promise<void> => {
  const fault = context.faults.take(what);
  const course = await met(fault, exchange, context.world);
  if (course === 'over') return;
  try {
    const result = run();
    if (course === 'lose answer') exchange.request.socket.resetAndDestroy();
    else if (result !== undefined) answer(exchange, 200, JSON.stringify({ ok: true, ...result }), { 'x-oauth-scopes': context.world.scopes.join(',') });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answerRefusal(exchange, error);
  }
};

const argumentsOf = (body: string, type: string): Readonly<Record<string, string>> => {
  if (type.startsWith('application/json')) return Object.fromEntries(Object.entries(record(parseJson(body)) ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]));
  return Object.fromEntries(new URLSearchParams(body));
};

const bearer = (request: IncomingMessage, args: Readonly<Record<string, string>>): string => /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? args['token'] ?? '';

const openConnection = ({ world, sockets }: ServerContext, token: string, root: string): Json => {
  if (token !== world.appToken) throw new Refusal(token === '' ? 'not_authed' : world.teams.some((team) => team.token === token) ? 'not_allowed_token_type' : 'invalid_auth');
  return { url: sockets.ticket(root) };
};

const teamOf = ({ world }: ServerContext, token: string): SimulatedTeam => {
  const team = world.teams.find((each) => each.token === token);
  if (team !== undefined) return team;
  throw new Refusal(token === '' ? 'not_authed' : token === world.appToken ? 'not_allowed_token_type' : 'invalid_auth');
};

const perform = (context: ServerContext, exchange: Exchange, token: string): Json => {
  const { method, args } = exchange.entry;
  if (method === 'apps.connections.open') return openConnection(context, token, exchange.root);
  const team = teamOf(context, token);
  const planned = context.refusals.get(method);
  if (planned !== undefined) throw planned;
  const problems = problemsOf(method, args);
  context.violations.push(...problems);
  if (problems.length > 0) throw new Refusal(methods[method] === undefined ? 'unknown_method' : 'invalid_arguments', { response_metadata: { messages: problems } });
  return methods[method]?.run({ world: context.world, team, args, root: exchange.root }) ?? {};
};

/** Slack takes the bytes as they are, and as a form with a file in it. */
const uploaded = async (bytes: Buffer<ArrayBuffer>, type: string): Promise<Uint8Array> => {
  if (!type.startsWith('multipart/form-data')) return bytes;
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const file = [...form.values()].find((value) => typeof value !== 'string');
  return file === undefined ? new Uint8Array() : new Uint8Array(await file.arrayBuffer());
};

const takeUpload = async ({ world }: ServerContext, exchange: Exchange, id: string, body: Buffer<ArrayBuffer>): Promise<void> => {
  const file = world.files.get(id);
  if (file !== undefined) file.bytes = await uploaded(body, exchange.request.headers['content-type'] ?? '');
  answer(exchange, file === undefined ? 404 : 200, file === undefined ? 'no such upload' : `OK - ${file.bytes.byteLength}`, { 'content-type': 'text/plain' });
};

const giveFile = async (context: ServerContext, exchange: Exchange, id: string): Promise<void> => {
  const fault = context.faults.take('download');
  if ((await met(fault, exchange, context.world)) !== 'go on') return;
  const file = context.world.files.get(id);
  const team = context.world.teams.find(({ token }) => token === bearer(exchange.request, {}));
  // Whoever may not read files is sent to the login page.
  if (team === undefined || file === undefined || file.teamId !== team.id || !context.world.scopes.includes('files:read')) answer(exchange, file === undefined ? 404 : 302, '', { location: 'https://slack.com/login', 'content-type': 'text/html' });
  else answer(exchange, 200, file.bytes, { 'content-type': file.mime });
};

const takeReply = ({ world }: ServerContext, exchange: Exchange, id: string, body: string): void => {
  const reply = world.replies.get(id);
  const message = record(parseJson(body));
  const channel = world.channels.get(reply?.channel ?? '');
  const team = world.teams.find((each) => each.id === channel?.teamId);
  if (reply === undefined || reply.left <= 0 || message === undefined || channel === undefined || team === undefined) {
    answer(exchange, 404, 'expired_url', { 'content-type': 'text/plain' });
    return;
  }
  reply.left -= 1;
  const blocks = message['blocks'] === undefined ? [] : readBlocks(JSON.stringify(records(message['blocks'])));
  post({ world, team }, channel, { text: text(message['text']) ?? '', mrkdwn: message['mrkdwn'] !== false, blocks, ...(message['response_type'] !== 'in_channel' && { reader: reply.user }) });
  answer(exchange, 200, 'ok', { 'content-type': 'text/plain' });
};

const logLimit = 20_000;

const handle = async (context: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const root = `http://${request.headers.host ?? ''}`;
  const [, first = '', second = '', third = ''] = new URL(request.url ?? '/', root).pathname.split('/');
  const bytes = Buffer.from(await buffer(request));
  const isCall = first === 'api';
  const args = isCall ? argumentsOf(bytes.toString(), request.headers['content-type'] ?? '') : {};
  const entry: CallRecord = { method: isCall ? second : first, args, atMs: context.world.clock.now(), status: 0 };
  context.log.push(entry);
  if (context.log.length > logLimit) context.log.splice(0, logLimit / 10);
  const exchange = { request, response, entry, root };
  if (isCall) await guarded(context, exchange, classOf(second), () => perform(context, exchange, bearer(request, args)));
  else if (first === 'upload') await takeUpload(context, exchange, third, bytes);
  else if (first === 'files-pri') await giveFile(context, exchange, second);
  else if (first === 'reply') takeReply(context, exchange, second, bytes.toString());
  else answer(exchange, 404, 'Not Found', { 'content-type': 'text/plain' });
};

/** Slack on a port of the loopback interface: the Web API, files and sockets. */
export const startServer = (context: ServerContext): Promise<SimulatorServer> =>
  startSimulatorServer({ handle: (request, response) => handle(context, request, response), upgrade: (request, socket, head) => context.sockets.accept(request, socket, head), cut: () => context.sockets.cut() }, 0);
